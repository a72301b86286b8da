import { DeleteObjectsCommand, GetObjectCommand, ListObjectVersionsCommand, S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import type { OldVersion } from '../../lib/erase/ports.ts'
import { createVersionedBucket } from '../../lib/stores/old-versions.ts'

// The emulator keeps no versions.
const client = new S3Client({ region: 'eu-central-1' })
const s3 = mockClient(client)
const bucket = createVersionedBucket({ s3: client, bucket: 'lake' })

beforeEach(() => s3.reset())

describe('old versions of objects', () => {
  it('are listed over all pages, without the newest ones and without marks of removals', async () => {
    s3.on(ListObjectVersionsCommand).resolves({
      IsTruncated: false,
      Versions: [{ Key: 'b', VersionId: '3', IsLatest: false }],
    })
    s3.on(ListObjectVersionsCommand, { KeyMarker: undefined }).resolves({
      IsTruncated: true,
      NextKeyMarker: 'a',
      NextVersionIdMarker: '1',
      Versions: [
        { Key: 'a', VersionId: '2', IsLatest: true },
        { Key: 'a', VersionId: '1', IsLatest: false },
      ],
      DeleteMarkers: [{ Key: 'b', VersionId: '4', IsLatest: true }],
    })
    const found: OldVersion[] = []
    for await (const version of bucket.oldVersions()) found.push(version)
    expect(found).toEqual([
      { key: 'a', version: '1' },
      { key: 'b', version: '3' },
    ])
    expect(s3.commandCalls(ListObjectVersionsCommand)[1]?.args[0].input).toMatchObject({
      KeyMarker: 'a',
      VersionIdMarker: '1',
    })
  })

  it('are read and removed by their ids, and what is not removed is an error', async () => {
    s3.on(GetObjectCommand).rejects(Object.assign(new Error('gone'), { name: 'NoSuchVersion' }))
    s3.on(DeleteObjectsCommand)
      .resolvesOnce({})
      .resolves({ Errors: [{ Key: 'a', Code: 'AccessDenied' }] })
    const version = { key: 'a', version: '1' }
    expect(await bucket.getVersion(version)).toBeNull()
    expect(s3.commandCalls(GetObjectCommand)[0]?.args[0].input).toMatchObject({ Key: 'a', VersionId: '1' })
    await bucket.removeVersions([version])
    expect(s3.commandCalls(DeleteObjectsCommand)[0]?.args[0].input.Delete?.Objects).toEqual([
      { Key: 'a', VersionId: '1' },
    ])
    await expect(bucket.removeVersions([version])).rejects.toThrow('S3 did not remove 1 of 1 old versions')
  })
})

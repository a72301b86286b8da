import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { slices } from '../core/concurrency.ts'
import { RetryableError } from '../core/errors.ts'
import type { Bucket, OldVersion } from '../erase/ports.ts'
import { callAws, isMissingKey } from './aws-errors.ts'
import { createObjectStore } from './objects.ts'

const versionsPerDelete = 1000

/** A bucket with the versions of objects that it keeps beside the newest ones. */
export function createVersionedBucket({ s3, bucket }: { s3: S3Client; bucket: string }): Bucket {
  return {
    ...createObjectStore({ s3, bucket }),
    oldVersions: () => oldVersions(s3, bucket),
    getVersion: ({ key, version }) =>
      callAws({ what: `read an old version of s3://${bucket}/${key}` }, async () => {
        try {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: version }))
          return (await Body?.transformToByteArray()) ?? new Uint8Array()
        } catch (error) {
          if (isMissingKey(error) || (error instanceof Error && error.name === 'NoSuchVersion')) return null
          throw error
        }
      }),
    removeVersions: async (versions) => {
      for (const some of slices(versions, versionsPerDelete)) {
        await callAws({ what: `remove old versions in s3://${bucket}` }, () => remove(s3, bucket, some))
      }
    },
  }
}

/** Marks of removals are left alone: without its mark an older version would be the newest again. */
async function* oldVersions(s3: S3Client, bucket: string): AsyncGenerator<OldVersion> {
  let page: Partial<ListObjectVersionsCommandOutput> = {}
  do {
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page
    const command = new ListObjectVersionsCommand({ Bucket: bucket, KeyMarker, VersionIdMarker })
    page = await callAws({ what: `list old versions in s3://${bucket}` }, () => s3.send(command))
    for (const { Key: key, VersionId: version, IsLatest } of page.Versions ?? []) {
      if (key && version && IsLatest === false) yield { key, version }
    }
  } while (page.IsTruncated)
}

async function remove(s3: S3Client, bucket: string, versions: readonly OldVersion[]): Promise<void> {
  const Objects = versions.map(({ key, version }) => ({ Key: key, VersionId: version }))
  const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
  const [first] = Errors
  if (!first) return
  const message = `S3 did not remove ${Errors.length} of ${versions.length} old versions in ${bucket}: ${first.Code}`
  throw new RetryableError(`${message}. Removing them again is harmless`, { code: 'storage_unavailable' })
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DeleteObjectsCommand, GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it } from 'vitest'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { createStorageClients } from '../../lib/stores/storage.ts'
import { localClients } from './clients.ts'
import { useEmulators } from './emulated.ts'

const emulated = useEmulators()
function megabytes(count: number) {
  return new Uint8Array(count * 1024 * 1024).fill(7)
}

/** A client of its own whose requests pass `before` first, which may throw; with the names of what it sent. */
function observed(before: (command: string, input: { PartNumber?: number }) => void) {
  const { s3 } = localClients(emulated().emulators.endpointUrl)
  const sent: string[] = []
  s3.middlewareStack.add(
    (next, context) => async (args) => {
      const command = String((context as { commandName?: string }).commandName)
      sent.push(command)
      before(command, args.input as { PartNumber?: number })
      return next(args)
    },
    { step: 'initialize' },
  )
  return { store: createObjectStore({ s3: s3 as S3Client, bucket: emulated().lake.bucket }), sent }
}

describe('objects in S3', () => {
  it('gives back what was put last, an empty object as well, and null for none', async () => {
    const { lake } = emulated()
    await lake.put('a/é +&?.bin', Uint8Array.of(1, 2, 3))
    await lake.put('a/é +&?.bin', Uint8Array.of(4))
    await lake.put('a/empty', new Uint8Array())
    expect(await lake.get('a/é +&?.bin')).toEqual(Uint8Array.of(4))
    expect(await lake.get('a/empty')).toEqual(new Uint8Array())
    expect(await lake.get('a/none')).toBeNull()
    await lake.remove(['a/é +&?.bin', 'a/empty', 'a/none'])
    expect(await lake.list('a/')).toEqual([])
    await lake.remove([])
  })

  it('gives what there is of a range, and null for none', async () => {
    const { lake } = emulated()
    await lake.put('ranged', Uint8Array.of(1, 2, 3))
    expect(await lake.getRange('ranged', 1, 3)).toEqual(Uint8Array.of(2, 3))
    expect(await lake.getRange('ranged', 2, 9)).toEqual(Uint8Array.of(3))
    expect(await lake.getRange('ranged', 3, 9)).toEqual(new Uint8Array())
    expect(await lake.getRange('none', 0, 9)).toBeNull()
  })

  it('copies an object, whatever its name, while the lease holds, and says when there is none', async () => {
    const { store, sent } = observed(() => {})
    await store.put('from/é +&?.bin', Uint8Array.of(1, 2))
    const { signal } = new AbortController()
    expect(await store.copy('from/é +&?.bin', 'to/ö', { signal })).toBe(true)
    expect(sent).toEqual(['PutObjectCommand', 'CopyObjectCommand'])
    expect(await store.get('to/ö')).toEqual(Uint8Array.of(1, 2))
    expect(await store.copy('from/none', 'to/none', { signal })).toBe(false)
    await expect(store.copy('to/ö', 'late', { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(await store.get('late')).toBeNull()
  })

  it('lists and removes more than a page holds, in the order of their keys (S3-06)', async () => {
    const { lake } = emulated()
    const keys = Array.from({ length: 1200 }, (_, i) => `many/${i % 2 ? 'Part' : 'part'}-${String(i).padStart(5, '0')}`)
    for (let from = 0; from < keys.length; from += 100) {
      await Promise.all(keys.slice(from, from + 100).map((key) => lake.put(key, Uint8Array.of(1))))
    }
    expect(await lake.list('many/')).toEqual(keys.toSorted())
    await lake.remove(keys)
    expect(await lake.list('many/')).toEqual([])
  })

  it('sends a large object in parts, and gives it back whole', async () => {
    const { store, sent } = observed(() => {})
    await store.put('large', megabytes(17))
    expect(sent.filter((command) => command === 'UploadPartCommand')).toHaveLength(3)
    expect((await store.get('large'))?.byteLength).toBe(17 * 1024 * 1024)
  })

  it('leaves no object and no parts when one part of three fails (S3-04)', async () => {
    const { store, sent } = observed((command, { PartNumber }) => {
      if (command === 'UploadPartCommand' && PartNumber === 2)
        throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
    })
    await expect(store.put('failed', megabytes(17))).rejects.toMatchObject({
      action: 'retry',
      code: 'storage_unavailable',
    })
    expect(sent.filter((command) => command === 'AbortMultipartUploadCommand')).toHaveLength(1)
    expect(sent).not.toContain('CompleteMultipartUploadCommand')
    expect(await store.get('failed')).toBeNull()
  })

  it('leaves no object when the lease runs out in the middle of it (S3-04)', async () => {
    const lease = new AbortController()
    const { store, sent } = observed((command, { PartNumber }) => {
      if (command === 'UploadPartCommand' && PartNumber === 2) lease.abort()
    })
    const put = store.put('stopped', megabytes(17), { signal: lease.signal })
    await expect(put).rejects.toMatchObject({ action: 'stop', code: 'lease_lost' })
    expect(sent).not.toContain('CompleteMultipartUploadCommand')
    expect(await store.get('stopped')).toBeNull()
  })

  it.each([
    ['InternalError', { action: 'retry', message: expect.stringMatching(/1 of 2.*b: InternalError/) }],
    ['AccessDenied', { action: 'stop', code: 'forbidden', message: expect.stringMatching(/1 of 2.*b/) }],
  ])('says which objects were not removed, although the answer was 200: %s', async (Code, expected) => {
    const { s3, lake } = emulated()
    const mock = mockClient(s3)
    mock.on(DeleteObjectsCommand).resolves({ Errors: [{ Key: 'b', Code }] })
    const failure = await lake.remove(['a', 'b']).catch((error: Error) => error)
    mock.restore()
    expect(failure).toMatchObject(expected)
  })

  it('reads again what broke off in its body, three times in all', async () => {
    let asked = 0
    let broken = 2
    const server = createServer((_, response) => {
      asked += 1
      response.writeHead(200, { 'content-length': '10' })
      if (broken-- > 0) response.write('five.', () => response.destroy())
      else response.end('ten bytes.')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { s3 } = localClients(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const store = createObjectStore({ s3, bucket: 'lake' })
    expect(Buffer.from((await store.get('x')) ?? []).toString()).toBe('ten bytes.')
    expect(asked).toBe(3)
    broken = 3
    await expect(store.getRange('x', 0, 10)).rejects.toMatchObject({ action: 'retry', code: 'storage_unavailable' })
    expect(asked).toBe(6)
    server.closeAllConnections()
    server.close()
  })

  it('tells a missing bucket and missing rights from a missing object', async () => {
    const { s3, lake } = emulated()
    const lost = createObjectStore({ s3, bucket: 'no-such-bucket' })
    await expect(lost.get('x')).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('no-such-bucket'),
    })
    const mock = mockClient(s3)
    mock
      .on(GetObjectCommand)
      .rejects(Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }))
    const failure = await lake.get('x').catch((error: Error) => error)
    mock.restore()
    expect(failure).toMatchObject({ code: 'forbidden', action: 'stop' })
  })
})

describe('clients', () => {
  it('add no checksum that an emulator would refuse, and keep it on AWS (S3-05)', async () => {
    const server = createServer((request, response) => {
      const checksums = Object.keys(request.headers).filter((name) =>
        /x-amz-(checksum|trailer|sdk-checksum)/.test(name),
      )
      request.resume().on('end', () => response.writeHead(checksums.length ? 501 : 200).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { s3 } = localClients(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await createObjectStore({ s3, bucket: 'lake' }).put('x', Uint8Array.of(1))
    server.closeAllConnections()
    server.close()

    const aws = createStorageClients({ region: 'eu-central-1' })
    expect(await aws.s3.config.requestChecksumCalculation()).toBe('WHEN_SUPPORTED')
    expect(aws.s3.config.forcePathStyle).toBeFalsy()
  })

  it.each([
    ['an answer that never comes', ''],
    ['a body that stalls', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nten bytes.'],
  ])('give up on %s (HTTP-05)', async (_, answer) => {
    const server = createServer().on('request', (request) => request.socket.write(answer))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { s3 } = createStorageClients({
      region: 'us-east-1',
      endpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      timeoutMs: 100,
    })
    const get = createObjectStore({ s3, bucket: 'lake' }).get('x')
    await expect(get).rejects.toMatchObject({ action: 'retry', code: 'storage_unavailable' })
    server.closeAllConnections()
    server.close()
  })
})

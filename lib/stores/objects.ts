import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { RetryableError } from '../core/errors.ts'
import { callAws, isMissingKey } from './aws-errors.ts'

/** How an object is written: until when (the lease), and as what. */
type PutOptions = { signal?: AbortSignal; contentType?: string }

/** Objects of one bucket. Throws the errors of core/errors.ts. */
export type ObjectStore = {
  readonly bucket: string
  /** Writes the whole object or nothing. */
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<void>
  /** The object's bytes, or null when there is none. */
  get(key: string): Promise<Uint8Array | null>
  /** All keys under a prefix, in the order of their UTF-8 bytes. */
  list(prefix: string): Promise<string[]>
  /** Removes objects; one that does not exist counts as removed. */
  remove(keys: readonly string[]): Promise<void>
}

/** Larger objects go up in parts of this size, so that no request is longer than what one connection takes well. */
const partBytes = 8 * 1024 * 1024
const keysPerDelete = 1000

/** An object store over a bucket in S3. */
export function createObjectStore({ s3, bucket }: { s3: S3Client; bucket: string }): ObjectStore {
  const what = (verb: string, key: string) => `${verb} s3://${bucket}/${key}`
  return {
    bucket,
    put: (key, bytes, { signal, contentType = 'application/octet-stream' } = {}) => {
      const input = { Bucket: bucket, Key: key, Body: bytes, ContentType: contentType }
      return callAws({ what: what('write', key), signal }, async () => {
        signal?.throwIfAborted()
        if (bytes.byteLength > partBytes) await upload(s3, input, signal)
        else await s3.send(new PutObjectCommand(input), signal ? { abortSignal: signal } : {})
      })
    },
    get: (key) =>
      callAws({ what: what('read', key) }, async () => {
        try {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
          return (await Body?.transformToByteArray()) ?? new Uint8Array()
        } catch (error) {
          if (isMissingKey(error)) return null
          throw error
        }
      }),
    list: (prefix) => callAws({ what: what('list', prefix) }, () => listAll(s3, { Bucket: bucket, Prefix: prefix })),
    remove: async (keys) => {
      for (let from = 0; from < keys.length; from += keysPerDelete) {
        const batch = keys.slice(from, from + keysPerDelete)
        await callAws({ what: what('remove', batch[0] ?? '') }, () => removeBatch(s3, bucket, batch))
      }
    },
  }
}

type PutInput = { Bucket: string; Key: string; Body: Uint8Array; ContentType: string }

/** Uploads in parts; when one fails or the lease runs out, the parts are given up and no object appears. */
async function upload(client: S3Client, params: PutInput, signal: AbortSignal | undefined): Promise<void> {
  const upload = new Upload({ client, params, partSize: partBytes, queueSize: 3, leavePartsOnError: false })
  const abort = () => void upload.abort()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    await upload.done()
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

async function listAll(s3: S3Client, scope: { Bucket: string; Prefix: string }): Promise<string[]> {
  const keys: string[] = []
  let token: string | undefined
  do {
    const page = await s3.send(new ListObjectsV2Command({ ...scope, ...(token ? { ContinuationToken: token } : {}) }))
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key)
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token)
  return keys
}

/** A batch delete answers 200 even when some keys were not removed. */
async function removeBatch(s3: S3Client, bucket: string, keys: readonly string[]): Promise<void> {
  const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true }
  const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }))
  const [first] = Errors
  if (!first) return
  const message = `S3 did not remove ${Errors.length} of ${keys.length} objects in ${bucket}, first ${first.Key}: ${first.Code}`
  throw new RetryableError(`${message}. Removing them again is harmless`, { code: 'storage_unavailable' })
}

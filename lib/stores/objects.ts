import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { release } from '../core/buffer.ts'
import { RetryableError } from '../core/errors.ts'
import { retry } from '../core/retry.ts'
import { callAws, isConditionFailure, isMissingKey } from './aws-errors.ts'

/** How an object is written: until when (the lease), and as what. */
type PutOptions = { signal?: AbortSignal; contentType?: string }

/** What an object is to be after what it was. Null leaves it as it is. */
type Change = (bytes: Uint8Array | null) => Uint8Array | null | Promise<Uint8Array | null>

/** Objects of one bucket. Throws the errors of core/errors.ts. */
export type ObjectStore = {
  readonly bucket: string
  /** Writes the whole object or nothing. */
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<void>
  /** The object's bytes, or null when there is none. */
  get(key: string): Promise<Uint8Array | null>
  /** The object's bytes from one place up to another, as far as it has them, or null when there is none. */
  getRange(key: string, from: number, to: number): Promise<Uint8Array | null>
  /** Writes a copy of an object in the bucket, without a byte of it passing here; false when there is none. */
  copy(from: string, to: string, options: { signal: AbortSignal }): Promise<boolean>
  /**
   * Writes what `change` makes of the object's bytes, unless it is null. No change of another writer gets lost: it is read
   * and made again when one came in between.
   */
  replace(key: string, change: Change, options?: PutOptions): Promise<void>
  /** All keys under a prefix, in the order of their UTF-8 bytes. */
  list(prefix: string): Promise<string[]>
  /** Removes objects; one that does not exist counts as removed. */
  remove(keys: readonly string[]): Promise<void>
}

/** Larger objects go up in parts of this size, so that no request is longer than what one connection takes well. */
const partBytes = 8 * 1024 * 1024
const keysPerDelete = 1000
const replaceAttempts = 5

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
    get: async (key) =>
      (await callAws({ what: what('read', key) }, () => read(s3, { Bucket: bucket, Key: key }))).bytes,
    getRange: async (key, from, to) => {
      const part = { Bucket: bucket, Key: key, Range: `bytes=${from}-${to - 1}` }
      return (await callAws({ what: what('read', key) }, () => read(s3, part))).bytes
    },
    copy: (from, to, { signal }) =>
      callAws({ what: what('write', to), signal }, () => copied(s3, { bucket, from, to }, signal)),
    replace: (key, change, { signal, contentType = 'application/octet-stream' } = {}) => {
      const place = { Bucket: bucket, Key: key }
      const attempt = () =>
        callAws({ what: what('replace', key), signal }, async () => {
          const { bytes, etag } = await read(s3, place)
          const Body = await change(bytes)
          if (Body === null) return
          signal?.throwIfAborted()
          const condition = etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: etag }
          const command = new PutObjectCommand({ ...place, Body, ContentType: contentType, ...condition })
          return await s3.send(command, signal ? { abortSignal: signal } : {}).then(() => {}, overtakenBy(key))
        })
      return retry(attempt, { attempts: replaceAttempts, signal })
    },
    list: (prefix) => callAws({ what: what('list', prefix) }, () => listAll(s3, { Bucket: bucket, Prefix: prefix })),
    remove: async (keys) => {
      for (let from = 0; from < keys.length; from += keysPerDelete) {
        const batch = keys.slice(from, from + keysPerDelete)
        await callAws({ what: what('remove', batch[0] ?? '') }, () => removeBatch(s3, bucket, batch))
      }
    },
  }
}

type Found = { bytes: Uint8Array | null; etag?: string | undefined }

/** The client repeats a request by itself, but not one whose answer breaks off in its body. */
const timesRead = 3

async function read(s3: S3Client, place: { Bucket: string; Key: string; Range?: string }): Promise<Found> {
  for (let time = 1; ; time++) {
    const answer = await answered(s3, place)
    if (answer === null) return { bytes: null }
    try {
      return { bytes: await collected(answer), etag: answer.ETag }
    } catch (error) {
      if (time === timesRead) throw error
    }
  }
}

/** Each piece is copied and given back as it comes: a file of 64 MB would else be there twice. */
async function collected({ Body, ContentLength = 0 }: Answer): Promise<Uint8Array> {
  let bytes = new Uint8Array(ContentLength)
  let used = 0
  for await (const piece of (Body ?? []) as AsyncIterable<Uint8Array>) {
    if (used + piece.byteLength > bytes.byteLength) {
      const larger = new Uint8Array(Math.max(2 * bytes.byteLength, used + piece.byteLength))
      larger.set(bytes)
      bytes = larger
    }
    bytes.set(piece, used)
    used += piece.byteLength
    release(piece)
  }
  return used === bytes.byteLength ? bytes : bytes.slice(0, used)
}

type Answer = Pick<GetObjectCommandOutput, 'Body' | 'ContentLength' | 'ETag'>

/** What S3 says; null when there is no such object, and nothing of one that ends before the range. */
async function answered(s3: S3Client, place: { Bucket: string; Key: string; Range?: string }): Promise<Answer | null> {
  try {
    return await s3.send(new GetObjectCommand(place))
  } catch (error) {
    if (isMissingKey(error)) return null
    if (error instanceof Error && error.name === 'InvalidRange') return {}
    throw error
  }
}

/** Sends the copy of an object within a bucket. Its tags stay behind: they would need rights of their own. */
export async function sendCopy(
  s3: S3Client,
  { bucket, from, to, etag }: { bucket: string; from: string; to: string; etag?: string },
  signal?: AbortSignal,
): Promise<void> {
  const CopySource = `${bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
  const condition = etag === undefined ? {} : { CopySourceIfMatch: etag }
  const input = { Bucket: bucket, Key: to, CopySource, TaggingDirective: 'REPLACE', ...condition } as const
  await s3.send(new CopyObjectCommand(input), signal ? { abortSignal: signal } : {})
}

async function copied(s3: S3Client, copy: Parameters<typeof sendCopy>[1], signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted()
  try {
    await sendCopy(s3, copy, signal)
    return true
  } catch (error) {
    if (isMissingKey(error)) return false
    throw error
  }
}

/** What to say of a conditional write that failed: worth another try if somebody else, or its own lost answer, was first. */
function overtakenBy(key: string) {
  return (error: unknown) => {
    if (!isConditionFailure(error)) throw error
    const message = `another worker changed ${key} at the same time ${replaceAttempts} times in a row. Try again`
    return new RetryableError(message, { code: 'storage_unavailable', cause: error })
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
  if (first.Code === 'AccessDenied') throw Object.assign(new Error(message), { name: first.Code })
  throw new RetryableError(`${message}. Removing them again is harmless`, { code: 'storage_unavailable' })
}

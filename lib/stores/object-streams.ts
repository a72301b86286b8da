import { Readable } from 'node:stream'
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { messageOf, RetryableError, SyncError } from '../core/errors.ts'
import { type CallContext, callAws, isMissingKey, storageError } from './aws-errors.ts'
import { firstOf, inTurn } from './chunks.ts'

/** Objects of one bucket that are too large to be held whole. Throws the errors of core/errors.ts. */
export type ObjectStreams = {
  /** The object's bytes as they come, or null when there is none. */
  read(key: string): Promise<AsyncIterable<Uint8Array> | null>
  /** Writes the whole object or nothing. */
  write(
    key: string,
    chunks: AsyncIterable<Uint8Array>,
    options: { signal: AbortSignal; contentType: string },
  ): Promise<void>
}

const partBytes = 8 * 1024 * 1024
/** Parts that are under way at the same time: each is held until it has gone. */
const partsAtOnce = 2

/** Streams of objects in a bucket of S3. */
export function createObjectStreams({ s3, bucket }: { s3: S3Client; bucket: string }): ObjectStreams {
  return {
    read: (key) => {
      const context = { what: `read s3://${bucket}/${key}` }
      return callAws(context, async () => {
        try {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
          return chunksOf((Body ?? []) as AsyncIterable<Uint8Array>, context)
        } catch (error) {
          if (isMissingKey(error)) return null
          throw error
        }
      })
    },
    write: (key, chunks, { signal, contentType }) =>
      callAws({ what: `write s3://${bucket}/${key}`, signal }, async () => {
        signal.throwIfAborted()
        const place = { Bucket: bucket, Key: key, ContentType: contentType }
        const { held, rest } = await firstOf(chunks, partBytes)
        if (rest === null) {
          // One request ends with the lease. Of an upload in parts it is the last call that makes an object of them.
          await s3.send(new PutObjectCommand({ ...place, Body: Buffer.concat(held) }), { abortSignal: signal })
          return
        }
        const params = { ...place, Body: Readable.from(inTurn(held, rest)) }
        const settings = { partSize: partBytes, queueSize: partsAtOnce, leavePartsOnError: false }
        const upload = new Upload({ client: s3, params, ...settings })
        const abort = () => void upload.abort()
        signal.addEventListener('abort', abort, { once: true })
        try {
          await upload.done()
        } finally {
          signal.removeEventListener('abort', abort)
        }
      }),
  }
}

/** A body that breaks off is trouble of the network, whatever the client calls it. */
async function* chunksOf(body: AsyncIterable<Uint8Array>, context: CallContext): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    const error = storageError(cause, context)
    if (error instanceof SyncError) throw error
    const message = `can't ${context.what} now: ${messageOf(cause)}. The next attempt goes on from the checkpoint`
    throw new RetryableError(message, { code: 'storage_unavailable', cause })
  }
}

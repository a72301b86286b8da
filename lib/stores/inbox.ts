import { CopyObjectCommand, HeadObjectCommand, NotFound, type S3Client } from '@aws-sdk/client-s3'
import type { Inbox } from '../limits/ports.ts'
import { callAws, isMissingKey } from './aws-errors.ts'
import { createObjectStore } from './objects.ts'

/** The inbox as a bucket in S3. Throws the errors of core/errors.ts. */
export function createInbox({ s3, bucket }: { s3: S3Client; bucket: string }): Inbox {
  const { get, put, remove } = createObjectStore({ s3, bucket })
  return {
    ...{ get, put, remove },
    head: (key) =>
      callAws({ what: `look at s3://${bucket}/${key}` }, async () => {
        try {
          const { ContentLength = 0, ETag = '' } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
          return { bytes: ContentLength, etag: ETag }
        } catch (error) {
          // An answer to HEAD has no body that could name the error.
          if (error instanceof NotFound || isMissingKey(error)) return null
          throw error
        }
      }),
    copy: (from, to, etag) =>
      callAws({ what: `copy s3://${bucket}/${from} to ${to}` }, async () => {
        const CopySource = `${bucket}/${from.split('/').map(encodeURIComponent).join('/')}`
        // Without its tags, which would need rights of their own.
        const how = { CopySourceIfMatch: etag, TaggingDirective: 'REPLACE' } as const
        await s3.send(new CopyObjectCommand({ Bucket: bucket, Key: to, CopySource, ...how }))
      }),
  }
}

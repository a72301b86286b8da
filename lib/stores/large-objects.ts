import { CopyObjectCommand, HeadObjectCommand, NotFound, type S3Client } from '@aws-sdk/client-s3'
import { callAws, isMissingKey } from './aws-errors.ts'

/** Which bytes an object has now, without reading them. */
export type ObjectHead = { bytes: number; etag: string }

/** Objects that may be larger than the memory. Throws the errors of core/errors.ts. */
export type LargeObjects = {
  /** Null when there is no such object. */
  head(key: string): Promise<ObjectHead | null>
  /** Copies an object of up to 5 GB inside its bucket, if it still is the one that `etag` names. */
  copy(from: string, to: string, etag: string): Promise<void>
}

/** Large objects of one bucket in S3. */
export function createLargeObjects({ s3, bucket }: { s3: S3Client; bucket: string }): LargeObjects {
  return {
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

import {
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  NotFound,
  type S3Client,
} from '@aws-sdk/client-s3'
import { isForImport } from '../limits/inbox-places.ts'
import type { Inbox, InboxListing, WaitingFile } from '../limits/ports.ts'
import { callAws, isMissingKey } from './aws-errors.ts'
import { createObjectStore, sendCopy } from './objects.ts'

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
      callAws({ what: `copy s3://${bucket}/${from} to ${to}` }, () => sendCopy(s3, { bucket, from, to, etag })),
  }
}

/** The inbox, for those who look what waits in it. What was dealt with may be years of files, and is not listed. */
export function createInboxListing({ s3, bucket }: { s3: S3Client; bucket: string }): InboxListing {
  return {
    waiting: () =>
      callAws({ what: `list s3://${bucket}` }, async () => {
        const top = await listAll(s3, { Bucket: bucket, Delimiter: '/' })
        const below: WaitingFile[] = []
        for (const folder of top.folders.filter(isForImport)) {
          below.push(...(await listAll(s3, { Bucket: bucket, Prefix: folder })).files)
        }
        return [...top.files, ...below]
      }),
  }
}

type Listed = { files: WaitingFile[]; folders: string[] }

async function listAll(s3: S3Client, scope: ListObjectsV2CommandInput): Promise<Listed> {
  const listed: Listed = { files: [], folders: [] }
  let token: string | undefined
  do {
    const page = await s3.send(new ListObjectsV2Command({ ...scope, ContinuationToken: token }))
    for (const { Key: key = '', LastModified } of page.Contents ?? []) {
      listed.files.push({ key, droppedAt: LastModified?.getTime() ?? 0 })
    }
    for (const { Prefix = '' } of page.CommonPrefixes ?? []) listed.folders.push(Prefix)
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
  return listed
}

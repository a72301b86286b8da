import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { hooksFolder } from '../hooks/collector/places.ts'
import type { HookObjects } from '../hooks/collector/ports.ts'
import { callAws } from './aws-errors.ts'
import { createObjectStore } from './objects.ts'

/** The collected objects in the lake bucket. Throws the errors of core/errors.ts. */
export function createHookObjects({ s3, bucket }: { s3: S3Client; bucket: string }): HookObjects {
  const { get, put } = createObjectStore({ s3, bucket })
  return {
    read: get,
    write: (key, bytes) => put(key, bytes, { contentType: 'application/gzip' }),
    keysAfter: (place, count) =>
      callAws({ what: `list s3://${bucket}/${hooksFolder}/ after ${place}` }, async () => {
        const scope = { Bucket: bucket, Prefix: `${hooksFolder}/`, StartAfter: place, MaxKeys: count }
        const { Contents = [] } = await s3.send(new ListObjectsV2Command(scope))
        return Contents.flatMap(({ Key }) => Key ?? [])
      }),
  }
}

import { messageOf, SyncError } from '../../lib/core/errors.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { createS3 } from '../../lib/stores/s3.ts'
import { clientOf, sessionsList } from './fixture.ts'

// Run by proxy.test.ts as a process of its own: one request to the platform, and one to S3, both named in the arguments.
const [platform = '', endpointUrl] = process.argv.slice(2)
const s3 = createS3({ region: 'us-east-1', endpointUrl, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } })
const requests = [
  clientOf(platform, { retry: { maxAttempts: 1 } }).get(sessionsList, {}),
  createObjectStore({ s3, bucket: 'lake' }).get('key'),
]
for (const request of requests) {
  const outcome = await request.then(
    () => 'answered',
    (error: unknown) => (error instanceof SyncError ? error.code : messageOf(error)),
  )
  process.stdout.write(`${outcome}\n`)
}

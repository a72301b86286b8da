import { messageOf, SyncError } from '../../lib/core/errors.ts'
import { clientOf, sessionsList } from './fixture.ts'

// Run by proxy.test.ts as a process of its own: one request to the platform named in the arguments.
const [platform = ''] = process.argv.slice(2)
const outcome = await clientOf(platform, { retry: { maxAttempts: 1 } })
  .get(sessionsList, {})
  .then(
    () => 'answered',
    (error: unknown) => (error instanceof SyncError ? error.code : messageOf(error)),
  )
process.stdout.write(`${outcome}\n`)

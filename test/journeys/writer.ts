import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { createCheckpoints } from '../../lib/stores/checkpoints.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { localClients } from '../stores/clients.ts'

// A process that writes objects and checkpoints until it is killed, and prints each number that was acknowledged.
const [dir = ''] = process.argv.slice(2)
const emulators = await startEmulators({ dir })
const { dynamodb, s3 } = localClients(emulators.endpointUrl)
const { STATE_TABLE = '', LAKE_BUCKET = '' } = emulators.environment
const checkpoints = createCheckpoints({ dynamodb, table: STATE_TABLE })
const lake = createObjectStore({ s3, bucket: LAKE_BUCKET })

const owner = `process-${process.pid}`
const taken = await checkpoints.acquire('sessions', { owner, now: Date.now(), expiresAt: Date.now() + 3_600_000 })
if ('heldBy' in taken) throw new Error(`held by ${taken.heldBy}`)
for (let number = taken.checkpoint.scansCompleted + 1; ; number++) {
  await lake.put(`objects/${number}`, new Uint8Array(50_000).fill(number % 256))
  await lake.put('pointer', Buffer.from(String(number)))
  await checkpoints.save({ ...taken.checkpoint, scansCompleted: number }, { owner, expiresAt: Date.now() + 3_600_000 })
  process.stdout.write(`${number}\n`)
}

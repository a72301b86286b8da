import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { createObjectStreams, type ObjectStreams } from '../../lib/stores/object-streams.ts'
import { createObjectStore, type ObjectStore } from '../../lib/stores/objects.ts'
import type { StorageClients } from '../../lib/stores/storage.ts'
import { localClients } from './clients.ts'

export { localClients } from './clients.ts'

/** What a suite needs to work against the emulators. */
export type Emulated = StorageClients & {
  emulators: Emulators
  stateTable: string
  recordsTable: string
  lake: ObjectStore
  lakeStreams: ObjectStreams
}

/** Starts the emulators for a test file, in a folder of its own. */
export function useEmulators(): () => Emulated {
  let emulated: Emulated | undefined
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
  beforeAll(async () => {
    const emulators = await startEmulators({ dir })
    const clients = localClients(emulators.endpointUrl)
    const { STATE_TABLE = '', RECORDS_TABLE = '', LAKE_BUCKET = '' } = emulators.environment
    const lake = createObjectStore({ s3: clients.s3, bucket: LAKE_BUCKET })
    const lakeStreams = createObjectStreams({ s3: clients.s3, bucket: LAKE_BUCKET })
    emulated = { ...clients, emulators, stateTable: STATE_TABLE, recordsTable: RECORDS_TABLE, lake, lakeStreams }
  })
  afterAll(async () => {
    emulated?.destroy()
    await emulated?.emulators.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return () => {
    if (!emulated) throw new Error('the emulators are not started yet')
    return emulated
  }
}

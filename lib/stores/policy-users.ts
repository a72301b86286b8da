import { isPlainObject } from '../core/canonical-json.ts'
import { FatalError, RetryableError } from '../core/errors.ts'
import { type Json, parseJson } from '../core/json.ts'
import { readEmail } from '../limits/email.ts'
import type { PolicyUser } from '../limits/policy/rules.ts'
import type { UsersSource } from '../limits/policy/users.ts'
import { organizationUsers } from '../streams/organization-users.ts'
import { decodeIndex } from '../sync/index-format.ts'
import type { Checkpoints, IndexStore, StoredRecord } from '../sync/ports.ts'

type Deps = {
  checkpoints: Pick<Checkpoints, 'read' | 'unpublished'>
  index: Pick<IndexStore, 'readIndex'>
  /** Reads many records of a stream at once. */
  records: (stream: string, keys: readonly string[]) => Promise<StoredRecord[]>
}

const stream = organizationUsers.name

/**
 * The users that the last scan listed: its index says who, the records table says what is known of them. A scan that is
 * suspect, or not published yet, is none to go by; one that failed leaves the one before it standing.
 */
export function createUsersSource({ checkpoints, index, records }: Deps): UsersSource {
  return {
    newest: async () => {
      const checkpoint = await checkpoints.read(stream)
      const scan = checkpoint?.lastScan
      if (!scan || !checkpoint.index)
        return { unusable: `${stream} was never synced. Run "platform-sync sync ${stream}" first.` }
      if (scan.status !== 'complete') {
        // The reason says itself what to run when it is right.
        const why = `The last scan of ${stream} is suspect: ${scan.reason ?? 'its list lacks too much'}.`
        return { unusable: `${why} Otherwise wait for the next scan.` }
      }
      const waiting = await checkpoints.unpublished(stream)
      if (waiting.length > 0) return { unusable: `The last scan of ${stream} is not published yet.` }
      const { key } = checkpoint.index
      return { scanId: scan.scanId, key, read: async () => usersIn(await listed(key, index, records)) }
    },
  }
}

async function listed(key: string, index: Deps['index'], records: Deps['records']): Promise<StoredRecord[]> {
  const bytes = await index.readIndex(key)
  // Publishing the next scan removes the index that it replaced.
  if (bytes === null) {
    const message = `The index of ${stream} was replaced or is missing; look again when its next scan is published.`
    throw new RetryableError(message, { code: 'storage_unavailable' })
  }
  const keys = [...decodeIndex(bytes).entries].map((entry) => entry.key)
  const found = await records(stream, keys)
  if (found.length === keys.length) return found
  // Whoever is missing here would look as if they had left.
  const message = `The records table lacks ${keys.length - found.length} of ${keys.length} records of ${stream}. Reset the stream with --index to write them anew.`
  throw new FatalError(message, { code: 'damaged_state' })
}

/** The users in records; one that is deleted, or has no address, is none that has a limit. */
function usersIn(found: readonly StoredRecord[]): PolicyUser[] {
  const users = found.flatMap(({ body, deletedAt }): PolicyUser[] => {
    const record = parseJson(body)
    if (deletedAt !== null || !isPlainObject(record)) return []
    const email = readEmail(record.email)
    return 'identity' in email ? [{ ...email, metadata: metadataOf(record.metadata) }] : []
  })
  return users.sort((a, b) => (a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : 0))
}

function metadataOf(value: Json | undefined): { [key: string]: Json } {
  return isPlainObject(value) ? value : {}
}

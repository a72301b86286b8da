import { RetryableError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Source } from '../../sync/ports.ts'
import { unpackLines } from './lines.ts'
import { isPlace, placeAt } from './places.ts'
import type { HookObjects } from './ports.ts'

const keysPerList = 200
const recordsPerPage = 2_000

/** The source of the stream of events: pages of collected objects in the order of time, whose tokens are keys. */
export function createHookSource(objects: Pick<HookObjects, 'read' | 'keysAfter'>): Source {
  return {
    fetchPage: async (_stream, token, { window, signal }) => {
      signal.throwIfAborted()
      const after = token ?? placeAt(window.since ?? 0)
      const listed = await objects.keysAfter(after, keysPerList)
      const end = placeAt(window.until)
      const keys = listed.filter((key) => key < end)
      const { records, last } = await readSome(keys.filter(isPlace), objects, signal)
      const lastListed = keys.length === keysPerList ? keys.at(-1) : undefined
      const nextToken = last ?? lastListed ?? null
      return { records, nextToken, isLast: () => nextToken === null }
    },
  }
}

/** Reads objects until there are records enough. `last`: the key of the last one, when some are left. */
async function readSome(keys: readonly string[], objects: Pick<HookObjects, 'read'>, signal: AbortSignal) {
  const records: Json[] = []
  for (const [at, key] of keys.entries()) {
    signal.throwIfAborted()
    const bytes = await objects.read(key)
    if (!bytes) throw gone(key)
    records.push(...(await unpackLines(key, bytes)))
    if (records.length >= recordsPerPage && at + 1 < keys.length) return { records, last: key }
  }
  return { records, last: null }
}

function gone(key: string) {
  const message = `${key} was removed from the lake bucket while hook_events was read. The next attempt lists what there is`
  return new RetryableError(message, { code: 'storage_unavailable' })
}

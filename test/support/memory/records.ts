import { FatalError } from '../../../lib/core/errors.ts'
import type { Records, StoredRecord } from '../../../lib/sync/ports.ts'

/** Throws as the AWS side does when the lease ran out. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new FatalError('the lease on the stream ran out', { code: 'lease_lost' })
}

/** Current records in memory; `all` shows those of a stream by key. */
export function createMemoryRecords(): Records & { all(stream: string): Map<string, StoredRecord> } {
  const streams = new Map<string, Map<string, StoredRecord>>()
  const all = (stream: string) => {
    const records = streams.get(stream) ?? new Map<string, StoredRecord>()
    streams.set(stream, records)
    return records
  }
  return {
    all,
    put: async ({ stream, records, changedAt, mayExist, signal }) => {
      stopIfAborted(signal)
      const stored = all(stream)
      const before = new Map(mayExist ? stored : [])
      for (const record of records) {
        const firstSeenAt = before.get(record.key)?.firstSeenAt ?? changedAt
        stored.set(record.key, { ...record, firstSeenAt, changedAt, deletedAt: null })
      }
    },
    tombstone: async ({ stream, keys, deletedAt, signal }) => {
      stopIfAborted(signal)
      for (const key of keys) {
        const record = all(stream).get(key)
        if (record) record.deletedAt ??= deletedAt
      }
    },
    bodies: async ({ stream, keys, signal }) => {
      stopIfAborted(signal)
      return new Map(keys.flatMap((key) => (all(stream).has(key) ? [[key, all(stream).get(key)!.body]] : [])))
    },
    get: async (stream, key) => structuredClone(all(stream).get(key) ?? null),
    keys: async function* (stream, signal) {
      stopIfAborted(signal)
      for (const { key, deletedAt } of all(stream).values()) if (deletedAt === null) yield key
    },
  }
}

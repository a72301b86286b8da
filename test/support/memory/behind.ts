import type { BehindTable } from '../../../lib/publish/manifest.ts'
import type { BehindTables } from '../../../lib/publish/ports.ts'

/** Tables that are behind, in memory. */
export function createMemoryBehind(names: Iterable<string>, since: string): BehindTables {
  const behind = new Map<string, BehindTable>([...names].map((name) => [name, { since, reason: null, triedAt: 0 }]))
  return {
    of: (name) => behind.get(name),
    note: (name, stands) => void (stands ? behind.set(name, stands) : behind.delete(name)),
    save: async () => {},
  }
}

import type { Clock } from '../../lib/core/clock.ts'
import { FatalError } from '../../lib/core/errors.ts'
import type { LedgerParts } from '../../lib/stores/ledger.ts'
import type { LedgerItem, LedgerKey } from '../../lib/stores/ledger-items.ts'

function keyOf({ pk, sk }: LedgerKey) {
  return `${pk}\u0000${sk}`
}

/** The limits table in memory, with the same promises as the one in DynamoDB. */
export function memoryParts(clock: Clock): LedgerParts & { table: Map<string, LedgerItem> } {
  const table = new Map<string, LedgerItem>()
  const lease = { fence: 0, owner: null as string | null, expiresAt: 0, state: null as string | null }
  return {
    clock,
    table,
    items: {
      write: async (items) => {
        for (const item of items) table.set(keyOf(item), item)
      },
      read: async (keys) => keys.flatMap((key) => table.get(keyOf(key)) ?? []),
      query: async function* (pk, { from, to, newestFirst }) {
        const found = [...table.values()].filter((item) => item.pk === pk && item.sk >= from && item.sk <= to)
        yield* found.sort((a, b) => (a.sk < b.sk === !newestFirst ? -1 : 1))
      },
      scan: async function* (sk) {
        yield* [...table.values()].filter((item) => item.sk === sk)
      },
    },
    leases: {
      read: async () => ({ ...lease, unpublished: {} }),
      acquire: async (_key, { owner, now, expiresAt }) => {
        if (lease.owner && lease.owner !== owner && lease.expiresAt > now) {
          return { heldBy: lease.owner, until: lease.expiresAt }
        }
        Object.assign(lease, { fence: lease.fence + 1, owner, expiresAt })
        return { ...lease, unpublished: {} }
      },
      save: async (_key, { lease: update, state }) => {
        if (lease.fence !== update.fence || lease.owner !== update.owner) {
          throw new FatalError('lost the lease', { code: 'lease_lost' })
        }
        Object.assign(lease, { state, expiresAt: update.expiresAt }, update.release ? { owner: null } : {})
      },
    },
  }
}

import type { LimitsApi } from '../../lib/limits/ports.ts'
import type { LedgerParts } from '../../lib/stores/ledger.ts'

/** What a killed worker "throws". */
export class Killed extends Error {}

/** Where a worker dies: at the how-manieth call to the outside, and on which side of it. */
export type Death = { call: number; when: 'before' | 'after' }

/**
 * A worker's outside, in which it dies at one call: before it reaches the other side, or after that did its work. From
 * then on nothing it does has any effect. Without a death it only counts.
 */
export function mortal(parts: LedgerParts, api: LimitsApi, death?: Death) {
  const calls: string[] = []
  let dead = false
  const guarded =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (dead) throw new Killed()
      calls.push(name)
      const mine = death?.call === calls.length
      if (mine && death?.when === 'before') dead = true
      if (dead) throw new Killed()
      const result = await call(...args)
      if (mine) dead = true
      if (dead) throw new Killed()
      return result
    }
  return {
    calls,
    parts: {
      ...parts,
      items: {
        ...parts.items,
        write: guarded('write', parts.items.write),
        read: guarded('read', parts.items.read),
      },
      leases: {
        ...parts.leases,
        acquire: guarded('acquire', parts.leases.acquire),
        save: guarded('save', parts.leases.save),
      },
    } satisfies LedgerParts,
    api: { setUserCreditLimits: guarded('put', api.setUserCreditLimits) } satisfies LimitsApi,
  }
}

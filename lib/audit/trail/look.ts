import { FatalError } from '../../core/errors.ts'
import { type ChainHeads, newHead } from './head.ts'
import { readStaged } from './pending-append.ts'
import type { HeadStore, TrailReader, WorkStore } from './ports.ts'
import { type ChainName, keyOf } from './sealed.ts'

/** The trail as those see it who only look: nothing is written, whatever a writer left undone. */
export type TrailLook = {
  /** The stored objects, and after `heads` also those that a writer has taken into the head and not stored yet. */
  store: TrailReader
  /** The heads of the chains, with an append that is under way: whoever writes next stores exactly that. */
  heads(): Promise<ChainHeads>
  read(chain: ChainName, sequence: number): Promise<Uint8Array | null>
}

/** What looking reads from. */
export type LookStores = { store: TrailReader; work: Pick<WorkStore, 'get'>; head: Pick<HeadStore, 'read'> }

const attempts = 5

/** Looks at the trail in its stores. */
export function lookAtTrail({ store, work, head }: LookStores): TrailLook {
  const underWay = new Map<string, Uint8Array>()
  // What is stored comes first: that is what is to be checked.
  const get = async (key: string) => (await store.get(key)) ?? underWay.get(key) ?? null
  const list = async (prefix: string) => {
    const stored = await store.list(prefix)
    const more = [...underWay.keys()].filter((key) => key.startsWith(prefix))
    return more.length === 0 ? stored : [...new Set([...stored, ...more])].sort()
  }
  const heads = async () => {
    for (let n = 0; n < attempts; n++) {
      const { pending, heads } = ((await head.read()) ?? { state: newHead() }).state
      if (!pending) return heads
      const writes = await readStaged(work, pending.writes)
      for (const { key, bytes } of writes ?? []) underWay.set(key, bytes)
      if (writes) return pending.next
      // They were stored and cleared away meanwhile: then the head has moved.
    }
    throw new FatalError(
      'the audit head waits for entries that are gone from index/audit/staged/ in the lake bucket; look again in a minute, and ' +
        'if they stay away, restore the object or the state table',
      { code: 'damaged_state' },
    )
  }
  return { store: { get, list }, heads, read: (chain, sequence) => get(keyOf(chain, sequence)) }
}

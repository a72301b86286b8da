import * as z from 'zod'
import { genesis } from './sealed.ts'

/** The last object of a chain: its sequence and its hash, or 0 and 64 zeros of an empty chain. */
export const ChainHead = z.object({ sequence: z.int().min(0), hash: z.string() })
export type ChainHead = z.infer<typeof ChainHead>

/** The last objects of the three chains. */
export const ChainHeads = z.object({ entries: ChainHead, findings: ChainHead, digests: ChainHead })
export type ChainHeads = z.infer<typeof ChainHeads>

/** The objects that a writer is about to store: the next one stores the same, so that a chain is linear whatever happens. */
export type PendingAppend = {
  /** The heads of the chains once it is stored. */
  next: ChainHeads
  /** The objects, packed (see pending-append.ts), or the key in the work store under which they lie. */
  writes: { packed: Uint8Array } | { staged: string }
}

/** The memory of the trail outside its bucket. Its size is bounded. */
export type HeadState = {
  heads: ChainHeads
  pending: PendingAppend | null
  /** The last entry and the last finding that have reached the warehouse. */
  reported: { entries: number; findings: number }
}

/** The head of a chain without objects. */
export function emptyChain(): ChainHead {
  return { sequence: 0, hash: genesis }
}

/** The head of a trail without objects. */
export function newHead(): HeadState {
  return {
    heads: { entries: emptyChain(), findings: emptyChain(), digests: emptyChain() },
    pending: null,
    reported: { entries: 0, findings: 0 },
  }
}

import * as z from 'zod'
import { genesis, type Series } from './sealed.ts'

/** How far a chain reaches: the sequence and the hash of its last object. */
export const Mark = z.object({ sequence: z.int().min(0), hash: z.string() })
export type Mark = z.infer<typeof Mark>

/** How far the three chains reach. */
export const Marks = z.object({ entries: Mark, findings: Mark, digests: Mark })
export type Marks = z.infer<typeof Marks>

/** What a writer is about to store: whoever comes next stores the same, so that a chain is linear whatever happens. */
export type Pending = {
  /** The marks once it is stored. */
  next: Marks
  /** The objects, packed (see pending.ts), or the key in the work store under which they lie. */
  writes: { packed: Uint8Array } | { staged: string }
}

/** All that is remembered of the trail outside its bucket. Its size is bounded. */
export type HeadState = {
  marks: Marks
  pending: Pending | null
  /** Up to where entries and findings have reached the warehouse. */
  reported: { entries: number; findings: number }
}

function nothing(): Mark {
  return { sequence: 0, hash: genesis }
}

/** The head of a trail without objects. */
export function newHead(): HeadState {
  return {
    marks: { entries: nothing(), findings: nothing(), digests: nothing() },
    pending: null,
    reported: { entries: 0, findings: 0 },
  }
}

/** The chains, in the order in which they are read and shown. */
export const allSeries: readonly Series[] = ['entries', 'findings', 'digests']

import type { Json } from '../core/json.ts'
import type { ObservedRecord, QuarantinedRecord } from './ports.ts'

/** A new or changed record that waits to be written. */
export type Change = { key: string; hash: string; body: string; record: { [key: string]: Json }; extra: Json | null }

/** What was read since the last flush. */
export type Buffered = {
  /** Unix ms at which the first record came in. */
  since: number
  received: number
  bytes: number
  /** By key, so that a newer copy replaces an older one. */
  changes: Map<string, Change>
  quarantined: QuarantinedRecord[]
  /** Every valid record, for the stream's observer; none without one. */
  observed: ObservedRecord[]
  /** Numbers of the keys that the pages touched, in the key table. */
  seen: number[]
  tokens: string[]
  /** Keys that a complete scan did not see. */
  deletes: string[]
}

/** A buffer that holds nothing. */
export function emptyBuffer(since: number): Buffered {
  return {
    since,
    received: 0,
    bytes: 0,
    changes: new Map(),
    quarantined: [],
    observed: [],
    seen: [],
    tokens: [],
    deletes: [],
  }
}

import { sha256 } from '../../core/hash.ts'
import type { OutcomeRecord } from '../../streams/credit-limit-outcomes.ts'
import { type LimitOutcome, type OutcomeName, originOf } from '../../streams/limit-outcome.ts'
import { excerpt, type LimitEntry } from '../entries.ts'

/** Tells whether somebody should look at an outcome. */
export function isFailure(outcome: OutcomeName): boolean {
  return outcome !== 'applied' && outcome !== 'superseded'
}

/** The name of an outcome: the same entry always has the same one. */
export type OutcomeKey = { identity: string; name: string }

type KeyFields = Pick<LimitOutcome, 'requestId' | 'requestedAt' | 'index' | 'identity' | 'address' | 'limit'>

/**
 * The key of an entry's outcome. It holds what the entry says, too, so that a producer who uses a request id twice loses
 * no outcome.
 */
export function outcomeKey({ requestId, requestedAt, index, identity, address, limit }: KeyFields): OutcomeKey {
  return {
    identity,
    name: `${requestedAt}#${requestId}#${String(index).padStart(3, '0')}#${sha256(`${limit} ${address}`).slice(0, 8)}`,
  }
}

/** The key as one text. */
export function keyText({ identity, name }: OutcomeKey): string {
  return `${identity} ${name}`
}

/** The key of the outcome that an entry has or will have. */
export function keyOfEntry({ request, index, identity, address, limit }: LimitEntry): OutcomeKey {
  return outcomeKey({ ...request, index, identity, address, limit })
}

/** The most that is kept of the platform's words: an item of the ledger, a row of the lake and a terminal must hold them. */
const maxReason = 1_000

/** The outcome of an entry. */
export function outcomeOf(
  { request, index, identity, address, limit, origin }: LimitEntry,
  end: Pick<LimitOutcome, 'outcome' | 'reason'> & Partial<Pick<LimitOutcome, 'apiCall' | 'previousLimit'>>,
  recordedAt: number,
): LimitOutcome {
  const { requestId, requestedAt, requestedBy, source } = request
  return {
    ...{ requestId, requestedAt, requestedBy, source },
    index,
    identity,
    address,
    limit,
    previousLimit: end.previousLimit ?? null,
    outcome: end.outcome,
    reason: end.reason === null ? null : excerpt(end.reason, maxReason),
    apiCall: end.apiCall ?? null,
    recordedAt: new Date(recordedAt).toISOString(),
    ...originOf({ ...request, ...origin }),
  }
}

/** An outcome as the warehouse has it. */
export function outcomeRecord(outcome: LimitOutcome): OutcomeRecord {
  return {
    outcomeId: sha256(keyText(outcomeKey(outcome))).slice(0, 32),
    ...outcome,
  }
}

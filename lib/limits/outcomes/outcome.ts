import { sha256 } from '../../core/hash.ts'
import type { Outcome, OutcomeName, OutcomeRecord } from '../../streams/credit-limit-outcomes.ts'
import type { Entry } from '../entries.ts'
import { excerpt } from '../excerpt.ts'
import type { OutcomeKey } from '../ports.ts'

/** Outcomes that somebody should look at. */
export function isFailure(outcome: OutcomeName): boolean {
  return outcome !== 'applied' && outcome !== 'superseded'
}

type Named = Pick<Outcome, 'requestId' | 'requestedAt' | 'index' | 'identity' | 'address' | 'limit'>

/**
 * The key of an entry's outcome. It holds what the entry says, too, so that a producer who uses a request id twice loses
 * no outcome.
 */
export function outcomeKey({ requestId, requestedAt, index, identity, address, limit }: Named): OutcomeKey {
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
export function keyOfEntry({ request, index, identity, address, limit }: Entry): OutcomeKey {
  return outcomeKey({ ...request, index, identity, address, limit })
}

/** So much of the platform's words is kept: an item of the ledger, a row of the lake and a terminal must hold them. */
const maxReason = 1_000

/** An entry's outcome. */
export function outcomeOf(
  { request, index, identity, address, limit }: Entry,
  end: Pick<Outcome, 'outcome' | 'reason'> & Partial<Pick<Outcome, 'apiCall' | 'previousLimit'>>,
  recordedAt: number,
): Outcome {
  return {
    ...request,
    index,
    identity,
    address,
    limit,
    previousLimit: end.previousLimit ?? null,
    outcome: end.outcome,
    reason: end.reason === null ? null : excerpt(end.reason, maxReason),
    apiCall: end.apiCall ?? null,
    recordedAt: new Date(recordedAt).toISOString(),
  }
}

/** An outcome as the warehouse has it. */
export function outcomeRecord(outcome: Outcome): OutcomeRecord {
  return {
    outcomeId: sha256(keyText(outcomeKey(outcome))).slice(0, 32),
    ...outcome,
  }
}

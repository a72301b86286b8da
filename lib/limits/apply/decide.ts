import type { LimitOutcome } from '../../streams/limit-outcome.ts'
import { isValid, type LimitEntry, type ValidLimitEntry } from '../entries.ts'
import { asUncertain, type LimitState, newestOf, type OutgoingLimit } from '../limit-state.ts'
import { keyOfEntry, keyText, type OutcomeKey } from '../outcomes/outcome.ts'

/** An entry as a message brought it. `redelivered`: the queue handed it out before, so that it may have been sent. */
export type DeliveredEntry = { entry: LimitEntry; redelivered: boolean }

/** An entry that ends without being sent. */
export type UnsentEntry = { entry: LimitEntry; outcome: 'superseded' | 'invalid'; reason: string }

/** The fate of the entries of a batch. Those in none of the lists have their outcome already. */
export type Decision = {
  send: ValidLimitEntry[]
  unsent: UnsentEntry[]
  /** Limits to send once more: an older one may have reached the platform after them. */
  resend: OutgoingLimit[]
  /** Addresses of which the same is to fear. They are uncertain until the platform confirms the newest limit once more. */
  uncertain: LimitState[]
}

type States = ReadonlyMap<string, LimitState>

/** The entries to send: the newest of each address, unless the ledger knows a newer one, or this one's end. */
export function winnersOf(delivered: readonly DeliveredEntry[], states: States): Map<string, ValidLimitEntry> {
  const winners = new Map<string, ValidLimitEntry>()
  for (const { entry } of delivered) {
    if (!isValid(entry) || !isNewest(entry, states.get(entry.identity))) continue
    const other = winners.get(entry.identity)
    if (!other || entry.order > other.order) winners.set(entry.identity, entry)
  }
  return winners
}

/** Keys of the outcomes that the others may have from an earlier delivery. */
export function keysToLookUp(
  delivered: readonly DeliveredEntry[],
  winners: ReadonlyMap<string, ValidLimitEntry>,
): OutcomeKey[] {
  return delivered.filter(({ entry }) => winners.get(entry.identity) !== entry).map(({ entry }) => keyOfEntry(entry))
}

/** Decides on every entry of a batch. */
export function decide(
  delivered: readonly DeliveredEntry[],
  known: {
    states: States
    winners: ReadonlyMap<string, ValidLimitEntry>
    recorded: ReadonlyMap<string, LimitOutcome>
  },
): Decision {
  const { states, winners, recorded } = known
  const decision: Decision = { send: [...winners.values()], unsent: [], resend: [], uncertain: [] }
  const overtaken = new Map<string, LimitState>()
  for (const { entry, redelivered } of delivered) {
    const winner = winners.get(entry.identity)
    if (winner === entry) continue
    const key = keyText(keyOfEntry(entry))
    // A copy of the winner in another message has the winner's outcome, which is not known yet.
    if ((winner && keyText(keyOfEntry(winner)) === key) || recorded.has(key)) continue
    if (!isValid(entry)) {
      decision.unsent.push({ entry, outcome: 'invalid', reason: 'invalid' in entry ? entry.invalid : '' })
      continue
    }
    const state = states.get(entry.identity)
    const newer = winner?.request.requestId ?? state?.requestId ?? ''
    decision.unsent.push({ entry, outcome: 'superseded', reason: supersededBy(newer, entry) })
    if (redelivered && !winner && state) overtaken.set(entry.identity, state)
  }
  for (const state of overtaken.values()) {
    if (state.status === 'applied') decision.resend.push(newestOf(state))
    if (state.certain) decision.uncertain.push(asUncertain(state))
  }
  return decision
}

// An intent that is pending in the ledger is this one, whose answer was lost: it is sent again.
function isNewest(entry: ValidLimitEntry, state: LimitState | undefined): boolean {
  return (
    !state ||
    entry.order > state.order ||
    (entry.order === state.order && state.status === 'pending' && entry.limit === state.wanted)
  )
}

function supersededBy(requestId: string, { request }: LimitEntry): string {
  return requestId === request.requestId
    ? 'the request says it already, or its id was used twice'
    : `the newer request ${requestId} stands`
}

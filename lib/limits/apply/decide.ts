import type { Outcome } from '../../streams/credit-limit-outcomes.ts'
import { type Entry, isValid, type ValidEntry } from '../entries.ts'
import { keyOfEntry, keyText } from '../outcomes/outcome.ts'
import type { LimitState, OutcomeKey, Sending } from '../ports.ts'

/** An entry as a message brought it. `redelivered`: the queue handed it out before, so that it may have been sent. */
export type Delivery = { entry: Entry; redelivered: boolean }

/** An entry that ends without being sent. */
export type Ended = { entry: Entry; outcome: 'superseded' | 'invalid'; reason: string }

/** What becomes of the entries of a batch. Those in none of the lists have their outcome already. */
export type Decision = {
  send: ValidEntry[]
  ended: Ended[]
  /** Limits to send once more: an older one may have reached the platform after them. */
  again: Sending[]
  /** Addresses of which the same is to fear. They are in doubt until the platform confirms the newest limit once more. */
  uncertain: LimitState[]
}

type States = ReadonlyMap<string, LimitState>

/** The entries to send: the newest of each address, unless the ledger knows a newer one, or this one's end. */
export function winnersOf(deliveries: readonly Delivery[], states: States): Map<string, ValidEntry> {
  const winners = new Map<string, ValidEntry>()
  for (const { entry } of deliveries) {
    if (!isValid(entry) || !isNewest(entry, states.get(entry.identity))) continue
    const other = winners.get(entry.identity)
    if (!other || entry.order > other.order) winners.set(entry.identity, entry)
  }
  return winners
}

/** Keys of the outcomes that the others may have from an earlier delivery. */
export function keysToLookUp(deliveries: readonly Delivery[], winners: ReadonlyMap<string, ValidEntry>): OutcomeKey[] {
  return deliveries.filter(({ entry }) => winners.get(entry.identity) !== entry).map(({ entry }) => keyOfEntry(entry))
}

/** Decides on every entry of a batch. */
export function decide(
  deliveries: readonly Delivery[],
  known: {
    states: States
    winners: ReadonlyMap<string, ValidEntry>
    recorded: ReadonlyMap<string, Outcome>
  },
): Decision {
  const { states, winners, recorded } = known
  const decision: Decision = { send: [...winners.values()], ended: [], again: [], uncertain: [] }
  const doubted = new Map<string, LimitState>()
  for (const { entry, redelivered } of deliveries) {
    const winner = winners.get(entry.identity)
    if (winner === entry) continue
    const key = keyText(keyOfEntry(entry))
    // A copy of the winner in another message has the winner's outcome, which is not known yet.
    if ((winner && keyText(keyOfEntry(winner)) === key) || recorded.has(key)) continue
    if (!isValid(entry)) {
      decision.ended.push({ entry, outcome: 'invalid', reason: 'invalid' in entry ? entry.invalid : '' })
      continue
    }
    const state = states.get(entry.identity)
    const newer = winner?.request.requestId ?? state?.requestId ?? ''
    decision.ended.push({ entry, outcome: 'superseded', reason: supersededBy(newer, entry) })
    if (redelivered && !winner && state) doubted.set(entry.identity, state)
  }
  for (const state of doubted.values()) {
    if (state.status === 'applied') decision.again.push(sendingOfState(state))
    if (state.certain) decision.uncertain.push({ ...state, certain: false })
  }
  return decision
}

/** What is sent for an entry. */
export function sendingOf({ identity, address, order, request, limit }: ValidEntry): Sending {
  return {
    identity,
    address,
    order,
    requestId: request.requestId,
    limit,
  }
}

/** What is sent to say an address's newest limit once more. */
export function sendingOfState({ identity, address, order, requestId, wanted }: LimitState): Sending {
  return {
    identity,
    address,
    order,
    requestId,
    limit: wanted,
  }
}

// An intent that is pending in the ledger is this one, whose answer was lost: it is sent again.
function isNewest(entry: ValidEntry, state: LimitState | undefined): boolean {
  return (
    !state ||
    entry.order > state.order ||
    (entry.order === state.order && state.status === 'pending' && entry.limit === state.wanted)
  )
}

function supersededBy(requestId: string, { request }: Entry): string {
  return requestId === request.requestId
    ? 'the request says it already, or its id was used twice'
    : `the newer request ${requestId} stands`
}

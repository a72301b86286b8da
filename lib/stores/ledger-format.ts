import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import { identityOf } from '../limits/email.ts'
import type { LimitState, OutgoingLimit } from '../limits/limit-state.ts'
import { type OutcomeKey, outcomeKey } from '../limits/outcomes/outcome.ts'
import type { MessageFailure } from '../limits/ports.ts'
import { LimitOutcome, sourceKinds } from '../streams/limit-outcome.ts'
import type { LedgerItem, LedgerKey } from './ledger-items.ts'

/** The lease of the one worker, whose state is the journal. */
export const leaseKey: LedgerKey = { pk: 'worker', sk: 'lease' }

/** A text that sorts after all others. */
export const lastText = '\uffff'

/** The sort keys of the outcomes in the partition of an address. */
export const outcomeRange = { from: 'outcome#', to: `outcome#${lastText}` }

/** The partition of an address. */
export function partitionOf(identity: string): string {
  return `email#${identity}`
}

/** The key of an address's state. */
export function stateKey(identity: string): LedgerKey {
  return { pk: partitionOf(identity), sk: 'state' }
}

/** The item of an address's state. */
export function stateItem(state: LimitState): LedgerItem {
  return { ...stateKey(state.identity), body: JSON.stringify(state) }
}

/** The body of an item. */
function ofLedger(body: string): unknown {
  return ofKnownForm(JSON.parse(body), { what: 'ledger of credit limits' })
}

/** Reads the body of a state. */
export function readState(body: string): LimitState {
  return ofLedger(body) as LimitState
}

/** The key of an outcome's item. */
export function outcomeItemKey({ identity, name }: OutcomeKey): LedgerKey {
  return { pk: partitionOf(identity), sk: `outcome#${name}` }
}

/** The item of an outcome. */
export function outcomeItem(outcome: LimitOutcome): LedgerItem {
  return { ...outcomeItemKey(outcomeKey(outcome)), body: JSON.stringify(outcome) }
}

/** Reads the body of an outcome. */
export function readOutcome(body: string): LimitOutcome {
  return LimitOutcome.parse(ofLedger(body))
}

/** The key of the reason why a message failed. */
export function failureKey(messageId: string): LedgerKey {
  return { pk: 'failures', sk: messageId }
}

/** The item of the reason why a message failed. */
export function failureItem(failure: MessageFailure): LedgerItem {
  return { ...failureKey(failure.messageId), body: JSON.stringify(failure) }
}

/** Reads the body of the reason why a message failed. */
export function readFailure(body: string): MessageFailure {
  return ofLedger(body) as MessageFailure
}

/** An outcome as the log names it. */
export type LoggedOutcome = [identity: string, name: string, outcome: LimitOutcome['outcome']]

/** The item of the log that names the outcomes of one call. The log is kept by months: some days have none, and readers ask for years. */
export function logItem(outcomes: LimitOutcome[], recordedAt: number, callId: string): LedgerItem {
  const at = new Date(recordedAt).toISOString()
  const entries = outcomes.map((outcome): LoggedOutcome => {
    const { identity, name } = outcomeKey(outcome)
    return [identity, name, outcome.outcome]
  })
  return { pk: logPartition(at), sk: `${at}#${callId}`, body: JSON.stringify(entries) }
}

/** Reads the body of an item of the log. */
export function readLog(body: string): LoggedOutcome[] {
  return ofLedger(body) as LoggedOutcome[]
}

/** The partitions of the log for a span of time (Unix ms): its months. */
export function logPartitions(from: number, to: number): string[] {
  const partitions: string[] = []
  const month = new Date(from)
  month.setUTCDate(1)
  month.setUTCHours(0, 0, 0, 0)
  for (; month.getTime() < to; month.setUTCMonth(month.getUTCMonth() + 1)) {
    partitions.push(logPartition(month.toISOString()))
  }
  return partitions
}

function logPartition(at: string): string {
  return `log#${at.slice(0, 7)}`
}

/**
 * The journal's text: requests once, then [request, address, limit], since 1,000 entries must fit one item. Of an origin it
 * keeps what decides whether the policy may overwrite the limit: `until`, and the kind of the source.
 */
const Journal = z.object({
  requests: z.array(z.tuple([z.string(), z.string(), z.enum(sourceKinds).optional()])),
  entries: z.array(z.tuple([z.int(), z.string(), z.int(), z.string().optional()])),
})

/** The journal of what a worker is about to send, as the text of an item. */
export function journalText(outgoing: readonly OutgoingLimit[]): string {
  const numbers = new Map<string, number>()
  const requests: z.infer<typeof Journal>['requests'] = []
  const entries = outgoing.map(({ order, requestId, address, limit, sourceKind, until }) => {
    let number = numbers.get(order)
    if (number === undefined) {
      number = requests.length
      numbers.set(order, number)
      requests.push(sourceKind ? [order, requestId, sourceKind] : [order, requestId])
    }
    return until === undefined ? [number, address, limit] : [number, address, limit, until]
  })
  return JSON.stringify({ requests, entries })
}

/** Reads the text of a journal. @throws FatalError `damaged_state` */
export function readJournal(text: string | null): OutgoingLimit[] {
  if (text === null) return []
  try {
    const { requests, entries } = Journal.parse(ofLedger(text))
    return entries.map(([number, address, limit, until]) => {
      const [order, requestId, sourceKind] = requests[number]!
      const outgoing = { identity: identityOf(address), address, limit, order, requestId }
      return { ...outgoing, ...(sourceKind ? { sourceKind } : {}), ...(until === undefined ? {} : { until }) }
    })
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    throw new FatalError(
      'The journal of the limits table is damaged: remove its item worker/lease, and plan all limits anew.',
      { code: 'damaged_state', cause },
    )
  }
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../core/clock.ts'
import type { Jitter } from '../core/retry.ts'
import { journalText, readJournal } from '../limits/apply/journal.ts'
import { pendingState } from '../limits/apply/states.ts'
import { isFailure, keyText, Outcome, outcomeKey } from '../limits/outcomes/outcome.ts'
import type { Ledger, LedgerReader, LimitState, MessageFailure, OutcomeKey } from '../limits/ports.ts'
import { createLeasedItems, type LeasedItems } from './leased-items.ts'
import { createLedgerItems, type ItemKey, type LedgerItem, type LedgerItems } from './ledger-items.ts'

/** What the ledger is made of: items, and the lease on its one worker. */
export type LedgerParts = {
  items: LedgerItems
  leases: Pick<LeasedItems, 'acquire' | 'save' | 'read'>
  clock: Clock
}

/** The parts over the limits table in DynamoDB. */
export function ledgerParts(deps: Jitter & { dynamodb: DynamoDBClient; table: string }): LedgerParts {
  return {
    items: createLedgerItems(deps),
    leases: createLeasedItems(deps),
    clock: deps.clock,
  }
}

const leaseKey = { pk: 'worker', sk: 'lease' }
const last = '\uffff'

/** The ledger in the limits table (see docs/decisions/limits-ledger.md). */
export function createLedger({ items, leases }: LedgerParts): Ledger {
  return {
    open: async (claim) => {
      const taken = await leases.acquire(leaseKey, claim)
      return 'heldBy' in taken ? taken : { fence: taken.fence, journal: readJournal(taken.state) }
    },
    journal: (lease, sending) => leases.save(leaseKey, { lease, state: journalText(sending) }),
    close: (lease) => leases.save(leaseKey, { lease: { ...lease, release: true }, state: journalText([]) }),
    states: (identities) => readStates(items, identities),
    outcomes: (keys) => readOutcomes(items, keys),
    record: async ({ outcomes, states, recordedAt, callId }) => {
      if (outcomes.length > 0) {
        // Before the outcomes: what the log names and is not there yet was never recorded, and will be named again.
        await items.write([logItem(outcomes, recordedAt, callId)])
        await items.write(outcomes.map(outcomeItem))
      }
      await items.write(states.map(stateItem))
    },
    noteFailures: (failures) => items.write(failures.map(failureItem)),
  }
}

/** The ledger as people and the lake read it; a worker may be writing meanwhile. */
export function createLedgerReader({ items, leases, clock }: LedgerParts): LedgerReader {
  const pending = async () => {
    const lease = await leases.read(leaseKey)
    return new Map(readJournal(lease?.state ?? null).map((sending) => [sending.identity, sending]))
  }
  const overlaid = (state: LimitState | undefined, sending: Parameters<typeof pendingState>[0] | undefined) =>
    sending ? pendingState(sending, state, clock.now()) : state
  const between = (from: number, to: number, wanted: (entry: LogEntry) => boolean) =>
    outcomesInLog(items, { from, to, wanted })
  return {
    allStates: async function* () {
      const journal = await pending()
      for await (const { body } of items.scan('state')) {
        const state = JSON.parse(body) as LimitState
        yield overlaid(state, journal.get(state.identity))!
        journal.delete(state.identity)
      }
      for (const sending of journal.values()) yield pendingState(sending, undefined, clock.now())
    },
    statesWithPending: async (identities) => {
      const journal = await pending()
      const wanted = [...identities]
      const states = await readStates(items, wanted)
      for (const identity of wanted) {
        const state = overlaid(states.get(identity), journal.get(identity))
        if (state) states.set(identity, state)
      }
      return states
    },
    outcomes: (keys) => readOutcomes(items, keys),
    outcomesOf: async (identity) => {
      const outcomes: Outcome[] = []
      const range = { from: 'outcome#', to: `outcome#${last}`, newestFirst: true }
      for await (const { body } of items.query(partitionOf(identity), range)) outcomes.push(parseOutcome(body))
      return outcomes
    },
    outcomesBetween: (from, to) => between(from, to, () => true),
    failedBetween: async function* (from, to) {
      for await (const outcome of between(from, to, ([, , name]) => isFailure(name))) {
        if (isFailure(outcome.outcome)) yield outcome
      }
    },
    failures: async (messageIds) => {
      const found = await items.read(messageIds.map((sk) => ({ pk: 'failures', sk })))
      return new Map(found.map(({ sk, body }) => [sk, JSON.parse(body) as MessageFailure]))
    },
  }
}

type LogEntry = [identity: string, name: string, outcome: Outcome['outcome']]

function partitionOf(identity: string) {
  return `email#${identity}`
}
function stateKey(identity: string): ItemKey {
  return { pk: partitionOf(identity), sk: 'state' }
}
function outcomeItemKey({ identity, name }: OutcomeKey): ItemKey {
  return {
    pk: partitionOf(identity),
    sk: `outcome#${name}`,
  }
}
function stateItem(state: LimitState): LedgerItem {
  return { ...stateKey(state.identity), body: JSON.stringify(state) }
}
function outcomeItem(outcome: Outcome): LedgerItem {
  return {
    ...outcomeItemKey(outcomeKey(outcome)),
    body: JSON.stringify(outcome),
  }
}
function failureItem(failure: MessageFailure): LedgerItem {
  return {
    pk: 'failures',
    sk: failure.messageId,
    body: JSON.stringify(failure),
  }
}

/** The log is kept by months: some days have none, and readers ask for years. */
function logPartition(at: string): string {
  return `log#${at.slice(0, 7)}`
}

function logItem(outcomes: Outcome[], recordedAt: number, callId: string): LedgerItem {
  const at = new Date(recordedAt).toISOString()
  const entries = outcomes.map((outcome): LogEntry => {
    const { identity, name } = outcomeKey(outcome)
    return [identity, name, outcome.outcome]
  })
  return { pk: logPartition(at), sk: `${at}#${callId}`, body: JSON.stringify(entries) }
}

function parseOutcome(body: string): Outcome {
  return Outcome.parse(JSON.parse(body))
}

async function readStates(items: LedgerItems, identities: Iterable<string>): Promise<Map<string, LimitState>> {
  const found = await items.read([...identities].map(stateKey))
  return new Map(
    found.map(({ body }) => JSON.parse(body) as LimitState).map((state) => [state.identity, state] as const),
  )
}

async function readOutcomes(items: LedgerItems, keys: OutcomeKey[]): Promise<Map<string, Outcome>> {
  const found = await items.read(keys.map(outcomeItemKey))
  return new Map(found.map(({ body }) => parseOutcome(body)).map((outcome) => [keyText(outcomeKey(outcome)), outcome]))
}

async function* outcomesInLog(
  items: LedgerItems,
  { from, to, wanted }: { from: number; to: number; wanted: (entry: LogEntry) => boolean },
): AsyncGenerator<Outcome> {
  const seen = new Set<string>()
  const range = { from: new Date(from).toISOString(), to: new Date(to - 1).toISOString() + last }
  for (const pk of logPartitions(from, to)) {
    for await (const { body } of items.query(pk, range)) {
      const keys = (JSON.parse(body) as LogEntry[])
        .filter(wanted)
        .map(([identity, name]) => ({ identity, name }))
        .filter((key) => !seen.has(keyText(key)))
      for (const key of keys) seen.add(keyText(key))
      yield* (await readOutcomes(items, keys)).values()
    }
  }
}

/** The months that a span of time touches. */
function logPartitions(from: number, to: number): string[] {
  const partitions: string[] = []
  const month = new Date(from)
  month.setUTCDate(1)
  month.setUTCHours(0, 0, 0, 0)
  for (; month.getTime() < to; month.setUTCMonth(month.getUTCMonth() + 1)) {
    partitions.push(logPartition(month.toISOString()))
  }
  return partitions
}

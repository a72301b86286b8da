import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../core/clock.ts'
import type { Jitter } from '../core/retry.ts'
import { type LimitState, type OutgoingLimit, pendingState } from '../limits/limit-state.ts'
import { isFailure, keyText, type OutcomeKey, outcomeKey } from '../limits/outcomes/outcome.ts'
import type { Ledger, LedgerReader } from '../limits/ports.ts'
import type { LimitOutcome } from '../streams/limit-outcome.ts'
import { createLeasedItems, type LeasedItems } from './leased-items.ts'
import {
  failureItem,
  failureKey,
  journalText,
  type LoggedOutcome,
  lastText,
  leaseKey,
  logItem,
  logPartitions,
  outcomeItem,
  outcomeItemKey,
  outcomeRange,
  partitionOf,
  readFailure,
  readJournal,
  readLog,
  readOutcome,
  readState,
  stateItem,
  stateKey,
} from './ledger-format.ts'
import { createLedgerItems, type LedgerItems } from './ledger-items.ts'

/** The parts of the ledger: items, and the lease on its one worker. */
export type LedgerParts = {
  items: LedgerItems
  leases: Pick<LeasedItems, 'acquire' | 'save' | 'read'>
  clock: Clock
}

/** The parts over the limits table in DynamoDB. */
export function ledgerParts(deps: Jitter & { dynamodb: DynamoDBClient; table: string }): LedgerParts {
  return { items: createLedgerItems(deps), leases: createLeasedItems(deps), clock: deps.clock }
}

/** The ledger in the limits table (see docs/decisions/limits-ledger.md). */
export function createLedger({ items, leases }: LedgerParts): Ledger {
  return {
    open: async (claim) => {
      const taken = await leases.acquire(leaseKey, claim)
      return 'heldBy' in taken ? taken : { fence: taken.fence, journal: readJournal(taken.state) }
    },
    journal: (lease, outgoing) => leases.save(leaseKey, { lease, state: journalText(outgoing) }),
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
  const readPending = async () => {
    const lease = await leases.read(leaseKey)
    return new Map(readJournal(lease?.state ?? null).map((outgoing) => [outgoing.identity, outgoing]))
  }
  const overlaid = (state: LimitState | undefined, outgoing: OutgoingLimit | undefined) =>
    outgoing ? pendingState(outgoing, state, clock.now()) : state
  const between = (from: number, to: number, wanted: (logged: LoggedOutcome) => boolean) =>
    outcomesInLog(items, { from, to, wanted })
  return {
    allStates: async function* () {
      const journal = await readPending()
      for await (const { body } of items.scan('state')) {
        const state = readState(body)
        yield overlaid(state, journal.get(state.identity))!
        journal.delete(state.identity)
      }
      for (const outgoing of journal.values()) yield pendingState(outgoing, undefined, clock.now())
    },
    statesWithPending: async (identities) => {
      const journal = await readPending()
      const wanted = [...identities]
      const states = await readStates(items, wanted)
      for (const identity of wanted) {
        const state = overlaid(states.get(identity), journal.get(identity))
        if (state) states.set(identity, state)
      }
      return states
    },
    outcomes: (keys) => readOutcomes(items, keys),
    outcomesOf: (identity, most) => outcomesOf(items, identity, most),
    outcomesAfter: (place, until, count) => outcomesAfter(items, place, { until, count }),
    outcomesBetween: (from, to) => between(from, to, () => true),
    failedBetween: async function* (from, to) {
      for await (const outcome of between(from, to, ([, , name]) => isFailure(name))) {
        if (isFailure(outcome.outcome)) yield outcome
      }
    },
    turn: async () => {
      const lease = await leases.read(leaseKey)
      return lease?.owner && lease.expiresAt > clock.now() ? null : `${lease?.fence ?? 0}`
    },
    failures: async (messageIds) => {
      const found = await items.read(messageIds.map(failureKey))
      return new Map(found.map(({ sk, body }) => [sk, readFailure(body)]))
    },
  }
}

async function readStates(items: LedgerItems, identities: Iterable<string>): Promise<Map<string, LimitState>> {
  const found = await items.read([...identities].map(stateKey))
  return new Map(found.map(({ body }) => readState(body)).map((state) => [state.identity, state] as const))
}

async function readOutcomes(items: LedgerItems, keys: OutcomeKey[]): Promise<Map<string, LimitOutcome>> {
  const found = await items.read(keys.map(outcomeItemKey))
  return new Map(found.map(({ body }) => readOutcome(body)).map((outcome) => [keyText(outcomeKey(outcome)), outcome]))
}

async function outcomesOf(
  items: LedgerItems,
  identity: string,
  most = Number.POSITIVE_INFINITY,
): Promise<LimitOutcome[]> {
  const outcomes: LimitOutcome[] = []
  for await (const { body } of items.query(partitionOf(identity), { ...outcomeRange, newestFirst: true })) {
    outcomes.push(readOutcome(body))
    if (outcomes.length >= most) break
  }
  return outcomes
}

async function outcomesAfter(
  items: LedgerItems,
  place: string,
  { until, count }: { until: number; count: number },
): Promise<{ outcomes: LimitOutcome[]; next: string | null }> {
  const keys: OutcomeKey[] = []
  // Sorts right after the place, so that what lies there is not read again.
  const range = { from: `${place}\u0000`, to: new Date(until - 1).toISOString() + lastText }
  for (const pk of logPartitions(Date.parse(place.slice(0, isoLength)), until)) {
    for await (const { sk, body } of items.query(pk, range)) {
      keys.push(...readLog(body).map(([identity, name]) => ({ identity, name })))
      if (keys.length >= count) return { outcomes: [...(await readOutcomes(items, keys)).values()], next: sk }
    }
  }
  return { outcomes: [...(await readOutcomes(items, keys)).values()], next: null }
}

const isoLength = new Date(0).toISOString().length

async function* outcomesInLog(
  items: LedgerItems,
  { from, to, wanted }: { from: number; to: number; wanted: (logged: LoggedOutcome) => boolean },
): AsyncGenerator<LimitOutcome> {
  const seen = new Set<string>()
  const range = { from: new Date(from).toISOString(), to: new Date(to - 1).toISOString() + lastText }
  for (const pk of logPartitions(from, to)) {
    for await (const { body } of items.query(pk, range)) {
      const keys = readLog(body)
        .filter(wanted)
        .map(([identity, name]) => ({ identity, name }))
        .filter((key) => !seen.has(keyText(key)))
      for (const key of keys) seen.add(keyText(key))
      yield* (await readOutcomes(items, keys)).values()
    }
  }
}

import { describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/core/clock.ts'
import type { LimitState } from '../../lib/limits/limit-state.ts'
import { keyText, outcomeKey } from '../../lib/limits/outcomes/outcome.ts'
import { createLedger, createLedgerReader, type LedgerParts, ledgerParts } from '../../lib/stores/ledger.ts'
import type { LimitOutcome } from '../../lib/streams/limit-outcome.ts'
import { useEmulatedLimits } from '../limits/emulated.ts'
import { allOf, at, newOwner, start } from '../limits/fixture.ts'
import { memoryParts } from '../limits/memory.ts'

const limits = useEmulatedLimits()

function state(identity: string, fields: Partial<LimitState> = {}): LimitState {
  return {
    identity,
    address: identity,
    order: `${at(0)}#r1`,
    requestId: 'r1',
    wanted: 5,
    status: 'applied',
    limit: 5,
    certain: true,
    changedAt: at(0),
    ...fields,
  }
}

function outcome(identity: string, fields: Partial<LimitOutcome> = {}): LimitOutcome {
  return {
    requestId: 'r1',
    requestedAt: at(0),
    requestedBy: 'it',
    source: 'test',
    index: 0,
    identity,
    address: identity,
    limit: 5,
    previousLimit: null,
    outcome: 'applied',
    reason: null,
    apiCall: '000001-001',
    recordedAt: at(0),
    ...fields,
  }
}

let people = 0
function somebody() {
  return `person${++people}@x.io`
}

describe.each([
  ['in memory', (): LedgerParts => memoryParts(systemClock)],
  [
    'in DynamoDB',
    (): LedgerParts => {
      const { emulated, variables } = limits()
      const table = variables.LIMITS_TABLE ?? ''
      return ledgerParts({ dynamodb: emulated.dynamodb, table, clock: systemClock, random: Math.random })
    },
  ],
])('the ledger %s', (_where, partsOf) => {
  const now = start
  const open = async (ledger: ReturnType<typeof createLedger>, at: number) => {
    const owner = newOwner()
    const opened = await ledger.open({ owner, now: at, expiresAt: at + 1000 })
    return { opened, lease: { owner, fence: 'fence' in opened ? opened.fence : -1, expiresAt: at + 1000 } }
  }

  it('keeps states and outcomes of more addresses than one call takes', async () => {
    const ledger = createLedger(partsOf())
    const names = Array.from({ length: 130 }, somebody)
    const outcomes = names.map((name, index) => outcome(name, { index }))
    await ledger.record({ outcomes, states: names.map((name) => state(name)), recordedAt: now, callId: 'c1' })
    const states = await ledger.states([...names, somebody()])
    expect([...states.keys()].sort()).toEqual([...names].sort())
    expect(states.get(names[0]!)).toEqual(state(names[0]!))
    const recorded = await ledger.outcomes(outcomes.map(outcomeKey))
    expect(recorded.size).toBe(130)
    expect(recorded.get(keyText(outcomeKey(outcomes[7]!)))).toEqual(outcomes[7])
  })

  it('lets a repetition overwrite itself, and keeps two entries under one request id apart', async () => {
    const parts = partsOf()
    const ledger = createLedger(parts)
    const ana = somebody()
    const first = outcome(ana)
    await ledger.record({ outcomes: [first], states: [], recordedAt: now, callId: 'c1' })
    await ledger.record({ outcomes: [{ ...first, outcome: 'rejected' }], states: [], recordedAt: now, callId: 'c2' })
    await ledger.record({ outcomes: [outcome(ana, { limit: 6 })], states: [], recordedAt: now, callId: 'c3' })
    const found = await createLedgerReader(parts).outcomesOf(ana)
    expect(found.map((one) => [one.limit, one.outcome]).sort()).toEqual([
      [5, 'rejected'],
      [6, 'applied'],
    ])
  })

  it('finds outcomes by the time they were recorded, each once, with its last outcome', async () => {
    const parts = partsOf()
    const ledger = createLedger(parts)
    const [ana, bob, cy] = [somebody(), somebody(), somebody()]
    const day = 24 * 3_600_000
    const record = (outcomes: LimitOutcome[], recordedAt: number) =>
      ledger.record({ outcomes, states: [], recordedAt, callId: `c${recordedAt}` })
    const t = now + people * 100 * day
    await record([outcome(ana)], t)
    await record([outcome(bob, { outcome: 'unaccounted' })], t + 2 * day)
    await record([outcome(bob, { outcome: 'applied' }), outcome(cy, { outcome: 'rejected' })], t + 3 * day)
    const reader = createLedgerReader(parts)
    const names = async (found: AsyncIterable<LimitOutcome>) => (await allOf(found)).map(({ identity }) => identity)
    expect(await names(reader.outcomesBetween(t, t + 4 * day))).toEqual([ana, bob, cy])
    expect(await names(reader.outcomesBetween(t + 1, t + 3 * day))).toEqual([bob])
    expect(await names(reader.failedBetween(t, t + 3 * day + 1))).toEqual([cy])
  })

  it('lists the outcomes of an address, the newest request first', async () => {
    const parts = partsOf()
    const ana = somebody()
    const outcomes = [1, 3, 2].map((seconds) => outcome(ana, { requestedAt: at(seconds), requestId: `r${seconds}` }))
    await createLedger(parts).record({ outcomes, states: [], recordedAt: now, callId: 'c1' })
    const found = await createLedgerReader(parts).outcomesOf(ana)
    expect(found.map(({ requestId }) => requestId)).toEqual(['r3', 'r2', 'r1'])
  })

  it('is held by one worker at a time, and shows its successor what it was about to send', async () => {
    const parts = partsOf()
    const ledger = createLedger(parts)
    const ana = somebody()
    const outgoing = { identity: ana, address: ana.toUpperCase(), order: `${at(9)}#r9`, requestId: 'r9', limit: 9 }
    const first = await open(ledger, now)
    expect(first.opened).toMatchObject({ journal: [] })
    await ledger.journal(first.lease, [outgoing])
    expect((await open(ledger, now + 999)).opened).toMatchObject({ heldBy: first.lease.owner })
    const second = await open(ledger, now + 1000)
    expect(second.opened).toMatchObject({ journal: [outgoing] })
    await expect(ledger.journal(first.lease, [])).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(ledger.close(first.lease)).rejects.toMatchObject({ code: 'lease_lost' })
    expect((await createLedgerReader(parts).statesWithPending([ana])).get(ana)).toMatchObject({
      status: 'pending',
      wanted: 9,
    })
    await ledger.close(second.lease)
    const third = await open(ledger, now + 1001)
    expect(third.opened).toMatchObject({ journal: [] })
    await ledger.close(third.lease)
  })

  it('shows all addresses, and those that are being sent as pending', async () => {
    const parts = partsOf()
    const ledger = createLedger(parts)
    const [ana, bob] = [somebody(), somebody()]
    await ledger.record({ outcomes: [], states: [state(ana)], recordedAt: now, callId: 'c1' })
    const { lease } = await open(ledger, now + 50_000)
    const outgoing = [ana, bob].map((name) => ({
      identity: name,
      address: name,
      order: `${at(9)}#r9`,
      requestId: 'r9',
      limit: 9,
    }))
    await ledger.journal(lease, outgoing)
    const states = new Map((await allOf(createLedgerReader(parts).allStates())).map((one) => [one.identity, one]))
    expect(states.get(ana)).toMatchObject({ status: 'pending', limit: 5, certain: false })
    expect(states.get(bob)).toMatchObject({ status: 'pending', limit: null, certain: false })
    await ledger.close(lease)
  })

  it('holds a journal of 1,000 of the longest addresses', async () => {
    const ledger = createLedger(partsOf())
    const { lease, opened } = await open(ledger, now + 100_000)
    expect(opened).toHaveProperty('journal')
    const outgoing = Array.from({ length: 1000 }, (_, i) => {
      const address = `${String(i).padStart(4, '0')}${'é'.repeat(122)}@x.io`
      return {
        identity: address,
        address,
        order: `${at(9)}#${'r'.repeat(120)}${i % 10}`,
        requestId: 'r',
        limit: 2 ** 53 - 1,
      }
    })
    await ledger.journal(lease, outgoing)
    const next = await open(ledger, now + 200_000)
    expect(next.opened).toMatchObject({ journal: outgoing })
    await ledger.close(next.lease)
  })

  it('keeps why messages failed', async () => {
    const parts = partsOf()
    const failure = { messageId: 'm1', at: at(0), code: 'bad_request', reason: 'no JSON', receiveCount: 5 }
    await createLedger(parts).noteFailures([failure])
    expect(await createLedgerReader(parts).failures(['m1', 'm2'])).toEqual(new Map([['m1', failure]]))
  })
})

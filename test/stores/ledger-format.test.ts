import { describe, expect, it } from 'vitest'
import { answeredState, type OutgoingLimit } from '../../lib/limits/limit-state.ts'
import { outcomeOf } from '../../lib/limits/outcomes/outcome.ts'
import {
  failureItem,
  journalText,
  logItem,
  logPartitions,
  outcomeItem,
  readJournal,
  stateItem,
} from '../../lib/stores/ledger-format.ts'
import { at, start } from '../limits/fixture.ts'

const outgoing: OutgoingLimit = {
  identity: 'ana@x.io',
  address: 'Ana@X.io',
  order: `${at(0)}#r1`,
  requestId: 'r1',
  limit: 5,
}
const request = { requestId: 'r1', requestedAt: at(0), requestedBy: 'it', source: 'test' }
const entry = { ...outgoing, request, index: 0 }
const outcome = outcomeOf(entry, { outcome: 'applied', reason: null, apiCall: '000001-001' }, start)

/** Installations hold these items: another text would not be found, or not be understood. */
describe('what the ledger stores, byte for byte', () => {
  it('is a state under its address', () => {
    expect(stateItem(answeredState(outgoing, { before: undefined, status: 'applied' }, start))).toEqual({
      pk: 'email#ana@x.io',
      sk: 'state',
      body:
        '{"identity":"ana@x.io","address":"Ana@X.io","order":"2026-05-06T10:00:00.000Z#r1","requestId":"r1","wanted":5,' +
        '"status":"applied","limit":5,"certain":true,"changedAt":"2026-05-06T10:00:00.000Z"}',
    })
  })

  it('is an outcome under its address, named by all that the entry says', () => {
    expect(outcomeItem(outcome)).toEqual({
      pk: 'email#ana@x.io',
      sk: 'outcome#2026-05-06T10:00:00.000Z#r1#000#436f01ad',
      body:
        '{"requestId":"r1","requestedAt":"2026-05-06T10:00:00.000Z","requestedBy":"it","source":"test","index":0,' +
        '"identity":"ana@x.io","address":"Ana@X.io","limit":5,"previousLimit":null,"outcome":"applied","reason":null,' +
        '"apiCall":"000001-001","recordedAt":"2026-05-06T10:00:00.000Z"}',
    })
  })

  it('is a log of outcomes by month', () => {
    expect(logItem([outcome], start, '000001-002')).toEqual({
      pk: 'log#2026-05',
      sk: '2026-05-06T10:00:00.000Z#000001-002',
      body: '[["ana@x.io","2026-05-06T10:00:00.000Z#r1#000#436f01ad","applied"]]',
    })
    expect(logPartitions(Date.UTC(2026, 11, 31), Date.UTC(2027, 1, 1))).toEqual(['log#2026-12', 'log#2027-01'])
  })

  it('is the reason why a message failed under its id', () => {
    const failure = { messageId: 'm1', receiveCount: 5, at: at(0), code: 'bad_request', reason: 'no JSON' }
    expect(failureItem(failure)).toEqual({ pk: 'failures', sk: 'm1', body: JSON.stringify(failure) })
  })

  it('is a journal in which each request stands once', () => {
    const text = journalText([outgoing, { ...outgoing, identity: 'bob@x.io', address: 'bob@x.io', limit: 6 }])
    expect(text).toBe(
      '{"requests":[["2026-05-06T10:00:00.000Z#r1","r1"]],"entries":[[0,"Ana@X.io",5],[0,"bob@x.io",6]]}',
    )
    expect(readJournal(text)[0]).toEqual(outgoing)
    expect(readJournal(null)).toEqual([])
  })

  it('keeps in the journal what decides whether a policy may overwrite a limit', () => {
    const byHand = { ...outgoing, sourceKind: 'file' as const, until: '2026-05-31' }
    const text = journalText([byHand, { ...outgoing, identity: 'bob@x.io', address: 'bob@x.io' }])
    expect(text).toContain('"entries":[[0,"Ana@X.io",5,"2026-05-31"],[0,"bob@x.io",5]]')
    expect(readJournal(text)[0]).toEqual(byHand)
  })

  it('is refused when a journal is damaged, with what to do', () => {
    for (const text of ['', '{}', '{"requests":[],"entries":[[0,"a@x.io",1]]}']) {
      expect(() => readJournal(text)).toThrow(/remove its item worker\/lease/)
    }
  })
})

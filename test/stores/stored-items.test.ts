import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { newHead } from '../../lib/audit/trail/head.ts'
import { systemClock } from '../../lib/core/clock.ts'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import { createDynamoHead } from '../../lib/stores/audit-head.ts'
import { createLeasedItems } from '../../lib/stores/leased-items.ts'
import { createLedgerItems } from '../../lib/stores/ledger-items.ts'
import { createRecords } from '../../lib/stores/records.ts'
import { createRuns } from '../../lib/stores/runs.ts'
import { useEmulators } from './emulated.ts'
import { untroubled } from './samples.ts'

const emulated = useEmulators()
type Item = Record<string, AttributeValue>
type Place = 'stateTable' | 'recordsTable'

/** What adapters of a table work with. */
function over(place: Place) {
  const { dynamodb, lake: bodies } = emulated()
  return { dynamodb, table: emulated()[place], bodies, clock: systemClock, random: Math.random }
}

async function rawItem(place: Place, Key: Item): Promise<Item | undefined> {
  const input = { TableName: emulated()[place], Key, ConsistentRead: true }
  return (await emulated().dynamodb.send(new GetItemCommand(input))).Item
}

async function putRaw(place: Place, Item: Item): Promise<void> {
  await emulated().dynamodb.send(new PutItemCommand({ TableName: emulated()[place], Item }))
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

// Installations hold items of this form for years: what is stored may not change, and what is stored must be read.
describe('a leased item', () => {
  const key = (sk: string) => ({ pk: { S: 'kind' }, sk: { S: sk } })
  const lease = { owner: 'a', fence: 1, expiresAt: 1_767_225_600_123 }

  it('is stored as numbers, texts and a map of texts', async () => {
    const items = createLeasedItems(over('stateTable'))
    const at = { pk: 'kind', sk: 'written' }
    await items.acquire(at, { owner: 'a', now: 0, expiresAt: 60 })
    const taken = { ...key('written'), fence: { N: '1' }, unpublished: { M: {} } }
    const held = { leaseOwner: { S: 'a' }, leaseExpiresAt: { N: '60' } }
    expect(await rawItem('stateTable', key('written'))).toEqual({ ...taken, ...held })
    await items.save(at, { lease, state: '' })
    const saved = { ...taken, state: { S: '' }, leaseOwner: { S: 'a' }, leaseExpiresAt: { N: '1767225600123' } }
    expect(await rawItem('stateTable', key('written'))).toEqual(saved)
    await items.save(at, {
      lease: { ...lease, release: true },
      state: '{"n":1}',
      waiting: { id: 'scan.1', summary: '{"é":2}' },
    })
    expect(await rawItem('stateTable', key('written'))).toEqual({
      ...taken,
      state: { S: '{"n":1}' },
      unpublished: { M: { 'scan.1': { S: '{"é":2}' } } },
    })
  })

  it('is read with whatever it lacks', async () => {
    const items = createLeasedItems(over('stateTable'))
    await putRaw('stateTable', {
      ...key('full'),
      fence: { N: '7' },
      leaseOwner: { S: 'b' },
      leaseExpiresAt: { N: '1767225600123' },
      state: { S: '{}' },
      unpublished: { M: { s: { S: '{}' } } },
    })
    await putRaw('stateTable', key('bare'))
    expect(await items.read({ pk: 'kind', sk: 'full' })).toEqual({
      fence: 7,
      owner: 'b',
      expiresAt: 1_767_225_600_123,
      state: '{}',
      unpublished: { s: '{}' },
    })
    expect(await items.read({ pk: 'kind', sk: 'bare' })).toEqual({
      fence: 0,
      owner: null,
      expiresAt: 0,
      state: null,
      unpublished: {},
    })
    expect(await items.read({ pk: 'kind', sk: 'none' })).toBeNull()
  })
})

describe('the record of a run', () => {
  it('is stored and read as a text under the time it was scheduled for', async () => {
    const runs = createRuns(over('stateTable'))
    const scheduledAt = Date.UTC(2026, 4, 6, 2)
    const record: RunRecord = {
      runId: 'r-1',
      scheduledAt,
      finishedAt: scheduledAt + 5,
      status: 'complete',
      streams: [],
    }
    const key = { pk: { S: 'run' }, sk: { S: '2026-05-06T02:00:00.000Z#r-1' } }
    await runs.write(record)
    const item = { ...key, record: { S: JSON.stringify(record) } }
    // Seconds, when DynamoDB may remove it: 400 days on.
    const expiresAt = { N: String(Math.ceil(record.finishedAt / 1000) + 400 * 86_400) }
    expect(await rawItem('stateTable', key)).toEqual({ ...item, expiresAt })
    await putRaw('stateTable', item)
    expect(await runs.read(record)).toEqual(record)
    expect(await runs.latest()).toEqual(record)
  })
})

describe('the head of the audit trail', () => {
  const key = { pk: { S: 'audit' }, sk: { S: 'head' } }
  const { heads, reported } = newHead()
  const texts = { marks: { S: JSON.stringify(heads) }, reported: { S: JSON.stringify(reported) } }
  const nextMarks = { S: JSON.stringify(heads) }

  it('is stored as a number, texts and bytes, and read back', async () => {
    const head = createDynamoHead(over('stateTable'))
    await head.write(newHead(), 0)
    expect(await rawItem('stateTable', key)).toEqual({ ...key, version: { N: '1' }, ...texts })
    for (const [version, writes, stored] of [
      [1, { packed: Buffer.from([0, 255, 7]) }, { packed: { B: Uint8Array.of(0, 255, 7) } }],
      [2, { staged: 'index/audit/staged/x' }, { staged: { S: 'index/audit/staged/x' } }],
    ] as const) {
      await head.write({ ...newHead(), pending: { next: heads, writes } }, version)
      const item = { ...key, version: { N: String(version + 1) }, ...texts, nextMarks, ...stored }
      expect(await rawItem('stateTable', key)).toEqual(item)
      await putRaw('stateTable', item)
      const read = await head.read()
      expect(read).toMatchObject({ version: version + 1, state: { heads, reported } })
      expect(JSON.stringify(read?.state.pending?.writes)).toBe(
        JSON.stringify('packed' in writes ? { packed: Uint8Array.from(writes.packed) } : writes),
      )
    }
  })
})

describe('a current record', () => {
  const pk = { S: 's#k' }
  const record = { key: 'k', hash: 'h1', body: '{"n":12345678901234567890}' }
  const times = { firstSeenAt: { N: '1767225600123' }, changedAt: { N: '1767225600123' } }
  const item = { pk, hash: { S: 'h1' }, body: { S: record.body }, ...times }

  it('is stored as texts and numbers, and read with what was stored', async () => {
    const records = createRecords(over('recordsTable'))
    const change = { stream: 's', records: [record], changedAt: 1_767_225_600_123, signal: untroubled }
    await records.put({ ...change, mayExist: false })
    expect(await rawItem('recordsTable', { pk })).toEqual(item)
    await records.tombstone({ stream: 's', keys: ['k'], deletedAt: 1_767_225_600_999, signal: untroubled })
    expect(await rawItem('recordsTable', { pk })).toEqual({ ...item, deletedAt: { N: '1767225600999' } })
    await putRaw('recordsTable', { ...item, firstSeenAt: { N: '3' }, deletedAt: { N: '9' } })
    const read = { ...record, changedAt: change.changedAt, firstSeenAt: 3 }
    expect(await records.get('s', 'k')).toEqual({ ...read, deletedAt: 9 })
    await records.put({ ...change, mayExist: true })
    expect(await rawItem('recordsTable', { pk })).toEqual({ ...item, firstSeenAt: { N: '3' } })
    expect(await records.get('s', 'k')).toEqual({ ...read, deletedAt: null })
  })
})

describe('an item of the ledger', () => {
  it('is stored as a text, and found by key, by range and by kind', async () => {
    const items = createLedgerItems(over('stateTable'))
    const written = ['a', 'b'].map((sk) => ({ pk: 'email#é', sk, body: sk === 'a' ? '' : '{"limit":0}' }))
    await items.write(written)
    expect(await rawItem('stateTable', { pk: { S: 'email#é' }, sk: { S: 'b' } })).toEqual({
      pk: { S: 'email#é' },
      sk: { S: 'b' },
      body: { S: '{"limit":0}' },
    })
    await putRaw('stateTable', { pk: { S: 'email#é' }, sk: { S: 'c' }, body: { S: 'old' } })
    const old = { pk: 'email#é', sk: 'c', body: 'old' }
    const keys = ['a', 'b', 'c', 'd'].map((sk) => ({ pk: 'email#é', sk }))
    expect((await items.read(keys)).sort((one, other) => (one.sk < other.sk ? -1 : 1))).toEqual([...written, old])
    const query = { from: 'b', to: 'z', newestFirst: true }
    expect(await all(items.query('email#é', query))).toEqual([old, written[1]])
    expect(await all(items.scan('c'))).toEqual([old])
  })
})

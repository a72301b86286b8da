import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../lib/core/clock.ts'
import { createRecords } from '../../lib/stores/records.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { createMemoryRecords } from '../support/memory/records.ts'
import { localClients } from './clients.ts'
import { recordsContract } from './contracts/records.ts'
import { useEmulators } from './emulated.ts'
import { untroubled } from './samples.ts'

const emulated = useEmulators()

/** Passes no time, and notes how long it was asked to. */
function fastClock() {
  const slept: number[] = []
  const clock: Clock = { now: () => 0, sleep: async (ms) => void slept.push(ms) }
  return { slept, clock }
}

function create() {
  const { dynamodb, recordsTable, lake } = emulated()
  return createRecords({ dynamodb, table: recordsTable, bodies: lake, clock: fastClock().clock, random: () => 0.5 })
}

recordsContract('in memory', createMemoryRecords)
recordsContract('in DynamoDB', create)

/** The items of a BatchWriteItem request, and how it is to be answered. */
type Put = { PutRequest: { Item: { pk: { S: string }; firstSeenAt: { N: string } } } }
type Answer = { status?: number; undone?: Put[]; type?: string } | 'hang up'
type Reply = { status?: number; body: unknown } | 'hang up'

function trouble(type = '') {
  return { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'trouble' }
}

describe('current records, when DynamoDB has trouble', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Records over a DynamoDB that replies as told to each call. */
  const serve = async (reply: (call: string, input: unknown) => Reply) => {
    server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const result = reply(`${request.headers['x-amz-target']}`.split('.')[1] ?? '', JSON.parse(text))
      if (result === 'hang up') return request.socket.destroy()
      response.statusCode = result.status ?? 200
      response.end(JSON.stringify(result.body))
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const { dynamodb } = localClients(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const { slept, clock } = fastClock()
    const bodies = createMemoryObjects()
    const records = createRecords({ dynamodb, table: 'records', bodies, clock, random: () => 0.5 })
    const put = (count: number, { signal = untroubled, mayExist = false } = {}) =>
      records.put({
        stream: 's',
        records: Array.from({ length: count }, (_, i) => ({ key: `${i}`, hash: 'h', body: '{}' })),
        changedAt: 9,
        mayExist,
        signal,
      })
    return { put, slept }
  }

  /** Records over a DynamoDB that answers batch writes as told; `stored` are the keys it took. */
  const over = async (answer: (items: Put[], call: number) => Answer) => {
    const calls: number[] = []
    const stored: string[] = []
    const world = await serve((_call, input) => {
      const items = (input as { RequestItems: { records: Put[] } }).RequestItems.records
      const result = answer(items, calls.push(items.length))
      if (result === 'hang up') return result
      const { status = 200, undone = status === 200 ? [] : items, type } = result
      for (const item of items) if (!undone.includes(item)) stored.push(item.PutRequest.Item.pk.S)
      return { status, body: status === 200 ? { UnprocessedItems: { records: undone } } : trouble(type) }
    })
    return { ...world, calls, stored }
  }

  it('sends again what a batch left undone, and no more than 25 items at once (DDB-02, DDB-03)', async () => {
    const left = [7, 2, 0]
    const { put, calls, stored, slept } = await over((items, call) => ({ undone: items.slice(0, left[call - 1]) }))
    await put(25)
    expect(calls).toEqual([25, 7, 2])
    expect(new Set(stored).size).toBe(25)
    expect(slept).toEqual([50, 100])
  })

  it('fails for a later attempt when some are never taken, so that the checkpoint stays (DDB-03)', async () => {
    const { put, calls } = await over((items) => ({ undone: items.slice(0, 1) }))
    await expect(put(3)).rejects.toMatchObject({ action: 'retry', code: 'storage_unavailable' })
    expect(calls).toEqual([3, 1, 1, 1, 1, 1, 1, 1])
  })

  it.each<[string, Answer]>([
    ['throttling', { status: 400, type: 'ProvisionedThroughputExceededException' }],
    ['a server error', { status: 500, type: 'InternalServerError' }],
    ['a body that is no JSON', { status: 503, type: '"<html>' }],
    ['a cut connection', 'hang up'],
  ])('sends again after %s', async (_, answer) => {
    const { put, stored } = await over((_items, call) => (call <= 2 ? answer : {}))
    await put(5)
    expect(stored).toHaveLength(5)
  })

  it('names the reason when the trouble does not end', async () => {
    const { put } = await over(() => ({ status: 400, type: 'ThrottlingException' }))
    const failure = await put(5).catch((error: Error) => error)
    expect(failure).toMatchObject({
      action: 'retry',
      message: expect.stringMatching(/write 5 items to table records now: .*ThrottlingException/),
    })
  })

  it.each([
    ['ResourceNotFoundException', 'configuration', 'Deploy the stateful stack'],
    ['AccessDeniedException', 'forbidden', 'Grant'],
    ['UnrecognizedClientException', 'configuration', 'AWS credentials'],
    ['ValidationException', 'bad_request', 'defect'],
  ])('does not repeat %s, and says what to do', async (type, code, advice) => {
    const { put, calls } = await over(() => ({ status: 400, type }))
    await expect(put(5)).rejects.toMatchObject({ action: 'stop', code, message: expect.stringContaining(advice) })
    expect(calls).toHaveLength(1)
  })

  it('stops between two attempts when the lease runs out', async () => {
    const lease = new AbortController()
    const { put, calls } = await over((items) => {
      lease.abort()
      return { undone: items }
    })
    await expect(put(5, { signal: lease.signal })).rejects.toMatchObject({ action: 'stop', code: 'lease_lost' })
    expect(calls).toHaveLength(1)
  })

  it('reads again the keys that a batch left unread, before it writes when they were first seen (DDB-03)', async () => {
    const Keys = ['s#0', 's#1'].map((pk) => ({ pk: { S: pk } }))
    const unread = [Keys, Keys.slice(1), []]
    const read: unknown[] = []
    const written: Put[] = []
    const { put, slept } = await serve((call, input) => {
      const { records } = (input as { RequestItems: { records: { Keys: typeof Keys } & Put[] } }).RequestItems
      if (call === 'BatchWriteItem') {
        written.push(...records)
        return { body: {} }
      }
      const left = unread[read.push(records.Keys) - 1] ?? []
      const found = records.Keys.filter((key) => !left.some(({ pk }) => pk.S === key.pk.S))
      const Responses = { records: found.map((key) => ({ ...key, firstSeenAt: { N: '1' } })) }
      return { body: { Responses, UnprocessedKeys: left.length > 0 ? { records: { Keys: left } } : {} } }
    })
    await put(3, { mayExist: true })
    expect(read).toEqual([[...Keys, { pk: { S: 's#2' } }], Keys, Keys.slice(1)])
    expect(slept).toEqual([50, 100])
    expect(written.map(({ PutRequest: { Item } }) => [Item.pk.S, Item.firstSeenAt.N])).toEqual([
      ['s#0', '1'],
      ['s#1', '1'],
      ['s#2', '1'],
    ])
  })

  it('leaves a read that fails to the attempts of the SDK, and makes none on top of them (HTTP-03)', async () => {
    let reads = 0
    const { put, slept } = await serve(() => {
      reads += 1
      return { status: 500, body: trouble('InternalServerError') }
    })
    await expect(put(1, { mayExist: true })).rejects.toMatchObject({ action: 'retry', code: 'storage_unavailable' })
    expect([reads, slept]).toEqual([5, []])
  })
})

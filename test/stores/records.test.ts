import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
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
type Put = { PutRequest: { Item: { pk: { S: string } } } }
type Answer = { status?: number; undone?: Put[]; type?: string } | 'hang up'

describe('current records, when DynamoDB has trouble', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Records over a DynamoDB that answers batch writes as told; `stored` are the keys it took. */
  const over = async (answer: (items: Put[], call: number) => Answer) => {
    const calls: number[] = []
    const stored: string[] = []
    server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const items = (JSON.parse(text) as { RequestItems: { records: Put[] } }).RequestItems.records
      const result = answer(items, calls.push(items.length))
      if (result === 'hang up') return request.socket.destroy()
      const { status = 200, undone = status === 200 ? [] : items, type } = result
      for (const item of items) if (!undone.includes(item)) stored.push(item.PutRequest.Item.pk.S)
      response.statusCode = status
      const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'trouble' }
      response.end(status === 200 ? JSON.stringify({ UnprocessedItems: { records: undone } }) : JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const { dynamodb } = localClients(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const { slept, clock } = fastClock()
    const records = createRecords({
      dynamodb,
      table: 'records',
      bodies: createMemoryObjects(),
      clock,
      random: () => 0.5,
    })
    const put = (count: number, signal = untroubled) =>
      records.put({
        stream: 's',
        records: Array.from({ length: count }, (_, i) => ({ key: `${i}`, hash: 'h', body: '{}' })),
        changedAt: 1,
        mayExist: false,
        signal,
      })
    return { put, calls, stored, slept }
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
  ])('sends again after %s', async (_, trouble) => {
    const { put, stored } = await over((_items, call) => (call <= 2 ? trouble : {}))
    await put(5)
    expect(stored).toHaveLength(5)
  })

  it('names the reason when the trouble does not end', async () => {
    const { put } = await over(() => ({ status: 400, type: 'ThrottlingException' }))
    const failure = await put(5).catch((error: Error) => error)
    expect(failure).toMatchObject({
      action: 'retry',
      cause: { message: expect.stringContaining('ThrottlingException') },
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
    await expect(put(5, lease.signal)).rejects.toMatchObject({ action: 'stop', code: 'lease_lost' })
    expect(calls).toHaveLength(1)
  })

  it('reads again the keys that a batch left unread, before it writes when they were first seen (DDB-03)', async () => {
    const { dynamodb, recordsTable, lake } = emulated()
    await create().put({
      stream: 'unread',
      records: [{ key: 'a', hash: 'h', body: '{}' }],
      changedAt: 1,
      mayExist: false,
      signal: untroubled,
    })
    const reader = mockClient(dynamodb)
    const Keys = [{ pk: { S: 'unread#a' } }]
    reader
      .on(BatchGetItemCommand)
      .resolvesOnce({ Responses: {}, UnprocessedKeys: { [recordsTable]: { Keys } } })
      .resolves({ Responses: { [recordsTable]: [{ pk: { S: 'unread#a' }, firstSeenAt: { N: '1' } }] } })
    const { clock } = fastClock()
    const records = createRecords({ dynamodb, table: recordsTable, bodies: lake, clock, random: () => 0 })
    const change = { stream: 'unread', records: [{ key: 'a', hash: 'h2', body: '{}' }], changedAt: 9 }
    await records.put({ ...change, mayExist: true, signal: untroubled })
    reader.restore()
    expect(await create().get('unread', 'a')).toMatchObject({ hash: 'h2', firstSeenAt: 1, changedAt: 9 })
  })
})

import { DeleteItemCommand } from '@aws-sdk/client-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { createOwnRates, type SharedRates } from '../../lib/platform/rates.ts'
import { createSharedRates } from '../../lib/stores/rates.ts'
import { localClients, useEmulators } from './emulated.ts'

const emulated = useEmulators()

function inDynamoDb(): SharedRates {
  return createSharedRates({ dynamodb: emulated().dynamodb, table: emulated().stateTable })
}

describe.each([
  ['in memory', createOwnRates],
  ['in DynamoDB', inDynamoDb],
])('what workers share %s', (_, create) => {
  beforeEach(async () => {
    const Key = { pk: { S: 'rate' }, sk: { S: 'platform' } }
    await emulated().dynamodb.send(new DeleteItemCommand({ TableName: emulated().stateTable, Key }))
  })

  it('is a schedule: who draws gets the time from now on, or after what others drew', async () => {
    const rates = create()
    expect(await rates.look()).toEqual({ drawnAt: null, wait: null })
    const first = await rates.draw({ now: 1_000, lengthMs: 500, queued: false })
    expect(first).toMatchObject({ startsAt: 1_000, seen: { drawnAt: null, wait: null } })
    const second = await rates.draw({ now: 1_200, lengthMs: 300, queued: true })
    expect(second).toMatchObject({ startsAt: 1_500, seen: { drawnAt: 1_000 }, calls: 1 })
    expect(await rates.draw({ now: 1_800, lengthMs: 100, queued: false })).toMatchObject({ startsAt: 1_800, calls: 1 })
    expect((await rates.look()).drawnAt).toBe(1_800)
  })

  it('takes a draw that guessed wrong whether others queue', async () => {
    const rates = create()
    expect(await rates.draw({ now: 1_000, lengthMs: 500, queued: true })).toMatchObject({ startsAt: 1_000 })
    expect(await rates.draw({ now: 1_000, lengthMs: 500, queued: false })).toMatchObject({ startsAt: 1_500 })
  })

  it('gives no moment twice to workers that draw at once', async () => {
    const rates = create()
    const draws = Array.from({ length: 3 }, () => rates.draw({ now: 5_000, lengthMs: 100, queued: true }))
    const starts = (await Promise.all(draws)).map(({ startsAt }) => startsAt)
    expect(starts.sort()).toEqual([5_000, 5_100, 5_200])
  })

  it('holds the newest wait, which only who knows the one before may replace', async () => {
    const rates = create()
    expect(await rates.note({ from: 1_000, ms: 5_000, inARow: {} }, 0)).toBe(true)
    expect(await rates.note({ from: 1_001, ms: 9_000, inARow: {} }, 0)).toBe(false)
    expect(await rates.note({ from: 1_002, ms: 7_000, inARow: { '/sessions': 2 } }, 1)).toBe(true)
    expect(await rates.look()).toEqual({
      drawnAt: null,
      wait: { serial: 2, from: 1_002, ms: 7_000, inARow: { '/sessions': 2 } },
    })
    const { seen } = await rates.draw({ now: 2_000, lengthMs: 10, queued: false })
    expect(seen.wait?.serial).toBe(2)
    expect((await rates.look()).wait?.serial).toBe(2)
  })
})

describe('what workers share in DynamoDB', () => {
  it('says what to do when its table is not there, and that trouble passes when it can not be reached', async () => {
    const lost = createSharedRates({ dynamodb: emulated().dynamodb, table: 'lost' })
    await expect(lost.look()).rejects.toMatchObject({ name: 'FatalError', code: 'configuration' })
    const { dynamodb, destroy } = localClients('http://127.0.0.1:9')
    const away = createSharedRates({ dynamodb, table: 'state' })
    const failed = away.draw({ now: 0, lengthMs: 1, queued: false })
    await expect(failed).rejects.toMatchObject({ name: 'RetryableError', code: 'storage_unavailable' })
    destroy()
  })
})

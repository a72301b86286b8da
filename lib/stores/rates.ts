import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { RetryableError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import type { Drawn, NotedWait, SharedRate, SharedRates } from '../platform/rates.ts'
import type { WaitsInARow } from '../platform/told-waits.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'

/** The kind of the one item: what a role may be allowed to touch of the state table. */
export const ratePartition = 'rate'
const Key = { pk: ratePartition, sk: 'platform' }

/** A request must not wait for long on a budget that is only there to be kind. */
const timeoutMs = 5_000

type Update = Omit<UpdateCommandInput, 'TableName' | 'Key' | 'ReturnValues'>
type Item = {
  version?: number
  freeAt?: number
  drawnAt?: number
  waits?: number
  waitFrom?: number
  waitMs?: number
  waitsInARow?: WaitsInARow
}

/**
 * What workers share, as one item of the state table. A schedule that is free, and one on which others queue, take writes of
 * different conditions, as DynamoDB knows no maximum: one call where `queued` guesses right.
 */
export function createSharedRates({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }): SharedRates {
  const documents = DynamoDBDocumentClient.from(dynamodb)

  /** The item before the write; null when the condition did not hold. */
  const update = (what: string, input: Update): Promise<Item | null> =>
    bounded(`${what} in table ${table}`, async (abortSignal) => {
      try {
        const command = new UpdateCommand({ TableName: table, Key, ReturnValues: 'ALL_OLD', ...input })
        const { Attributes = {} } = await documents.send(command, { abortSignal })
        return Attributes
      } catch (error) {
        if (isConditionFailure(error)) return null
        throw error
      }
    })

  const look = () =>
    bounded(`read the shared rate in table ${table}`, async (abortSignal) => {
      const command = new GetCommand({ TableName: table, Key, ConsistentRead: true })
      const { Item = {} } = await documents.send(command, { abortSignal })
      return rateOf(Item)
    })

  return {
    look,
    draw: async ({ now, lengthMs, queued }) => {
      for (let calls = 1; calls <= drawTries; calls++) {
        const behindOthers = queued === (calls % 2 === 1)
        const input = behindOthers ? drawNext({ now, lengthMs }) : drawNow({ now, lengthMs })
        const before = await update('draw from the shared rate', input)
        if (before) return drawnOf(before, { now, behindOthers, calls })
      }
      // Conditions do not say which of them failed: a rate of a later form says so here.
      await look()
      throw overtaken(table)
    },
    note: async (wait, after) => (await update('note a wait', noteWait(wait, after))) !== null,
  }
}

const drawTries = 4

async function bounded<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  return await callAws({ what }, async () => {
    try {
      return await call(signal)
    } catch (error) {
      throw signal.aborted ? tooSlow(what, error) : error
    }
  })
}

type Draw = { now: number; lengthMs: number }

/** What no write of this version may change: what names a form is of a later one. */
const ofThisForm = 'attribute_not_exists(version)'

/** Nobody has taken the time from now on. */
function drawNow({ now, lengthMs }: Draw): Update {
  return {
    UpdateExpression: 'SET freeAt = :end, drawnAt = :now',
    ConditionExpression: `${ofThisForm} AND (attribute_not_exists(freeAt) OR freeAt <= :now)`,
    ExpressionAttributeValues: { ':now': now, ':end': now + lengthMs },
  }
}

function drawNext({ now, lengthMs }: Draw): Update {
  return {
    UpdateExpression: 'SET freeAt = freeAt + :length, drawnAt = :now',
    ConditionExpression: `${ofThisForm} AND freeAt > :now`,
    ExpressionAttributeValues: { ':now': now, ':length': lengthMs },
  }
}

function drawnOf(
  before: Item,
  { now, behindOthers, calls }: { now: number; behindOthers: boolean; calls: number },
): Drawn {
  return { startsAt: behindOthers ? Number(before.freeAt) : now, seen: rateOf(before), calls }
}

function noteWait({ from, ms, inARow }: NotedWait, after: number): Update {
  return {
    UpdateExpression: 'SET waits = :serial, waitFrom = :from, waitMs = :ms, waitsInARow = :inARow',
    ConditionExpression: `${ofThisForm} AND ${after === 0 ? 'attribute_not_exists(waits)' : 'waits = :after'}`,
    ExpressionAttributeValues: {
      ...{ ':serial': after + 1, ':from': from, ':ms': ms, ':inARow': inARow },
      ...(after === 0 ? {} : { ':after': after }),
    },
  }
}

function rateOf(item: Item): SharedRate {
  const goBack = `remove the item pk "${Key.pk}", sk "${Key.sk}" from the state table`
  ofKnownForm(item, { what: 'rate that all workers share', goBack })
  const { drawnAt, waits, waitFrom = 0, waitMs = 0, waitsInARow = {} } = item
  const wait = waits === undefined ? null : { serial: waits, from: waitFrom, ms: waitMs, inARow: waitsInARow }
  return { drawnAt: drawnAt ?? null, wait }
}

function tooSlow(what: string, cause: unknown) {
  return new RetryableError(`can't ${what} within ${timeoutMs / 1000} s`, { code: 'storage_unavailable', cause })
}

function overtaken(table: string) {
  const message = `other workers drew from the shared rate in table ${table} ${drawTries} times in a row`
  return new RetryableError(message, { code: 'storage_unavailable' })
}

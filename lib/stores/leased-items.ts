import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { FatalError } from '../core/errors.ts'
import type { LeaseClaim } from '../sync/ports.ts'
import { callAws, isConditionFailure } from './aws-errors.ts'

/** An item of the state table that one worker at a time may write. `sk` names it within its kind (`pk`). */
export type ItemKey = { pk: string; sk: string }

/** The item as stored. `state` is JSON text; its meaning is the caller's. */
export type LeasedItem = {
  fence: number
  owner: string | null
  expiresAt: number
  state: string | null
  /** Scans that wait for publish: scan id to the JSON of its summary. */
  unpublished: Record<string, string>
}

/** A lease as it is renewed or given up. */
type LeaseUpdate = { owner: string; fence: number; expiresAt: number; release?: boolean | undefined }

/** Reads and conditional writes of leased items in the state table. */
export type LeasedItems = ReturnType<typeof createLeasedItems>

type Update = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>

/** Leased items over DynamoDB. All reads are consistent; every write is conditional. */
export function createLeasedItems({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }) {
  const read = (key: ItemKey): Promise<LeasedItem | null> =>
    callAws({ what: `read ${nameOf(key)} in table ${table}` }, async () => {
      const input = { TableName: table, Key: keyOf(key), ConsistentRead: true }
      const { Item } = await dynamodb.send(new GetItemCommand(input))
      return Item ? itemOf(Item) : null
    })

  /** Whether the write happened; false when its condition did not hold. */
  const update = (key: ItemKey, update: Update): Promise<boolean> =>
    callAws({ what: `write ${nameOf(key)} in table ${table}` }, async () => {
      try {
        await dynamodb.send(new UpdateItemCommand({ TableName: table, Key: keyOf(key), ...update }))
        return true
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
    })

  /** Takes the lease if it is free or expired. An owner is one attempt, so a lease that is already its own is the one it took. */
  const acquire = async (key: ItemKey, claim: LeaseClaim): Promise<LeasedItem | { heldBy: string; until: number }> => {
    for (;;) {
      const item = await read(key)
      if (item?.owner && item.expiresAt > claim.now) {
        return item.owner === claim.owner ? item : { heldBy: item.owner, until: item.expiresAt }
      }
      const fence = (item?.fence ?? 0) + 1
      if (await update(key, takeOver(item, claim, fence))) {
        return { ...(item ?? emptyItem), fence, owner: claim.owner, expiresAt: claim.expiresAt }
      }
    }
  }

  /** Writes the state under a lease, optionally with a scan that from now on waits for publish. */
  const save = async (
    key: ItemKey,
    write: { lease: LeaseUpdate; state: string; waiting?: { id: string; summary: string } },
  ) => {
    if (await update(key, saveUnderLease(write))) return
    // A release that is sent twice finds its own work: nobody holds the lease for us, and the state is what we wrote.
    const item = write.lease.release ? await read(key) : null
    if (item && item.state === write.state && item.owner !== write.lease.owner) return
    throw new FatalError(`lost the lease on ${nameOf(key)}: another worker took it over and goes on`, {
      code: 'lease_lost',
    })
  }

  return { read, update, acquire, save }
}

const emptyItem = { state: null, unpublished: {} }

function keyOf({ pk, sk }: ItemKey) {
  return { pk: { S: pk }, sk: { S: sk } }
}

function nameOf({ pk, sk }: ItemKey) {
  return `${pk} ${sk}`
}

function itemOf(item: Record<string, AttributeValue>): LeasedItem {
  return {
    fence: Number(item.fence?.N ?? 0),
    owner: item.leaseOwner?.S ?? null,
    expiresAt: Number(item.leaseExpiresAt?.N ?? 0),
    state: item.state?.S ?? null,
    unpublished: Object.fromEntries(
      Object.entries(item.unpublished?.M ?? {}).map(([id, value]) => [id, value.S ?? '']),
    ),
  }
}

/** The condition under which a lease may be taken: it is as we read it, and nobody holds it now. */
export const unheldCondition = 'fence = :read AND (attribute_not_exists(leaseOwner) OR leaseExpiresAt <= :now)'

function takeOver(item: LeasedItem | null, claim: LeaseClaim, fence: number): Update {
  return {
    UpdateExpression:
      'SET fence = :fence, leaseOwner = :owner, leaseExpiresAt = :expiresAt, unpublished = if_not_exists(unpublished, :none)',
    ConditionExpression: item ? unheldCondition : 'attribute_not_exists(pk)',
    ExpressionAttributeValues: {
      ':fence': { N: String(fence) },
      ':owner': { S: claim.owner },
      ':expiresAt': { N: String(claim.expiresAt) },
      ':none': { M: {} },
      ...(item ? { ':read': { N: String(item.fence) }, ':now': { N: String(claim.now) } } : {}),
    },
  }
}

function saveUnderLease(write: {
  lease: LeaseUpdate
  state: string
  waiting?: { id: string; summary: string }
}): Update {
  const { lease, state, waiting } = write
  const set = ['#state = :state']
  if (!lease.release) set.push('leaseExpiresAt = :expiresAt')
  if (waiting) set.push('unpublished.#scan = :summary')
  return {
    UpdateExpression: `SET ${set.join(', ')}${lease.release ? ' REMOVE leaseOwner, leaseExpiresAt' : ''}`,
    ConditionExpression: 'fence = :fence AND leaseOwner = :owner',
    ExpressionAttributeNames: { '#state': 'state', ...(waiting ? { '#scan': waiting.id } : {}) },
    ExpressionAttributeValues: {
      ':state': { S: state },
      ':fence': { N: String(lease.fence) },
      ':owner': { S: lease.owner },
      ...(lease.release ? {} : { ':expiresAt': { N: String(lease.expiresAt) } }),
      ...(waiting ? { ':summary': { S: waiting.summary } } : {}),
    },
  }
}

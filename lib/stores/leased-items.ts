import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { FatalError, RetryableError } from '../core/errors.ts'
import { retry } from '../core/retry.ts'
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

type Update = Omit<UpdateCommandInput, 'TableName' | 'Key'>

type Held = { heldBy: string; until: number }

/** How often a worker tries to take a lease that others take and give back meanwhile. */
const acquireAttempts = 20

/** Leased items over DynamoDB. All reads are consistent; every write is conditional. */
export function createLeasedItems({ dynamodb, table }: { dynamodb: DynamoDBClient; table: string }) {
  const documents = DynamoDBDocumentClient.from(dynamodb)

  const read = (key: ItemKey): Promise<LeasedItem | null> =>
    callAws({ what: `read ${nameOf(key)} in table ${table}` }, async () => {
      const { Item } = await documents.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))
      return Item ? itemOf(Item as StoredItem) : null
    })

  /** The item after a write; null when the condition of the write did not hold. */
  const written = (key: ItemKey, update: Update): Promise<StoredItem | null> =>
    callAws({ what: `write ${nameOf(key)} in table ${table}` }, async () => {
      try {
        const { Attributes = {} } = await documents.send(new UpdateCommand({ TableName: table, Key: key, ...update }))
        return Attributes as StoredItem
      } catch (error) {
        if (isConditionFailure(error)) return null
        throw error
      }
    })

  /** Whether the write happened; false when its condition did not hold. */
  const update = async (key: ItemKey, update: Update): Promise<boolean> => (await written(key, update)) !== null

  /** One call where the lease is free: nothing can change between a read and the write when the write itself reads. */
  const takeIfFree = async (key: ItemKey, claim: LeaseClaim): Promise<LeasedItem | Held | RetryableError> => {
    const taken = await written(key, takeOver(claim))
    if (taken) return itemOf(taken)
    const item = await read(key)
    if (!item?.owner || item.expiresAt <= claim.now) return overtaken(key)
    return item.owner === claim.owner ? item : { heldBy: item.owner, until: item.expiresAt }
  }

  /**
   * Takes the lease if it is free or expired. An owner is one attempt, so a lease that is already its own is the one it
   * took. Nothing is waited for: whoever was first has the lease now, and the next read says so.
   */
  const acquire = (key: ItemKey, claim: LeaseClaim): Promise<LeasedItem | Held> =>
    retry(() => takeIfFree(key, claim), { attempts: acquireAttempts })

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

  return { read, list: (pk: string) => listItems({ documents, table }, pk), update, acquire, save }
}

/** All items of a kind, by what names them within it. */
function listItems(
  { documents, table }: { documents: DynamoDBDocumentClient; table: string },
  pk: string,
): Promise<ReadonlyMap<string, LeasedItem>> {
  const input = {
    TableName: table,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    ConsistentRead: true,
  }
  return callAws({ what: `read the items of kind ${pk} in table ${table}` }, async () => {
    const found = new Map<string, LeasedItem>()
    for await (const { Items = [] } of paginateQuery({ client: documents }, input)) {
      for (const item of Items) found.set(String(item.sk), itemOf(item as StoredItem))
    }
    return found
  })
}

function nameOf({ pk, sk }: ItemKey) {
  return `${pk} ${sk}`
}

function overtaken(key: ItemKey) {
  const message = `other workers took the lease on ${nameOf(key)} ${acquireAttempts} times in a row. Try again`
  return new RetryableError(message, { code: 'storage_unavailable' })
}

type StoredItem = {
  fence?: number
  leaseOwner?: string
  leaseExpiresAt?: number
  state?: string
  unpublished?: Record<string, string>
}

function itemOf({ fence = 0, leaseOwner, leaseExpiresAt = 0, state, unpublished = {} }: StoredItem): LeasedItem {
  return { fence, owner: leaseOwner ?? null, expiresAt: leaseExpiresAt, state: state ?? null, unpublished }
}

/** The condition under which a lease may be taken: nobody holds it now. */
const isUnheld = '(attribute_not_exists(leaseOwner) OR leaseExpiresAt <= :now)'

/** The condition under which an item without a lease may be written: it is as we read it, and nobody holds it now. */
export const unheldCondition = `fence = :read AND ${isUnheld}`

function takeOver({ owner, now, expiresAt }: LeaseClaim): Update {
  return {
    UpdateExpression:
      'SET fence = if_not_exists(fence, :zero) + :one, leaseOwner = :owner, leaseExpiresAt = :expiresAt, unpublished = if_not_exists(unpublished, :none)',
    ConditionExpression: isUnheld,
    ExpressionAttributeValues: {
      ...{ ':zero': 0, ':one': 1, ':none': {} },
      ...{ ':owner': owner, ':expiresAt': expiresAt, ':now': now },
    },
    ReturnValues: 'ALL_NEW',
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
      ':state': state,
      ':fence': lease.fence,
      ':owner': lease.owner,
      ...(lease.release ? {} : { ':expiresAt': lease.expiresAt }),
      ...(waiting ? { ':summary': waiting.summary } : {}),
    },
  }
}

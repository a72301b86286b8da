import { BatchGetCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { eachConcurrently, slices } from '../core/concurrency.ts'
import { RetryableError } from '../core/errors.ts'
import { fullJitter, type Jitter, retry } from '../core/retry.ts'
import { type CallContext, callAws, storageError } from './aws-errors.ts'
import type { BatchWrite, ItemKey } from './batch-write.ts'

/** What one call takes. */
export const itemsPerWrite = 25
const keysPerRead = 100

/** Calls of one batch of work that are under way at the same time. */
export const callsAtOnce = 8

const attempts = 8
const growth = { baseMs: 100, capMs: 5_000 }

/** How work on a table is waited for, and until when it may go on. */
type WriteDeps<T extends ItemKey> = Jitter & { table: string; batchWrite: BatchWrite<T>; signal?: AbortSignal }

type ReadDeps = Jitter & {
  documents: DynamoDBDocumentClient
  table: string
  /** The attributes to read; all unless given. */
  projection?: string
  signal?: AbortSignal
}

/**
 * Writes any number of items. What DynamoDB leaves undone is sent again, and all of a call after throttling and trouble of
 * the service or the network: the SDK, which would do that, does not send these calls (batch-write.ts).
 * @throws RetryableError when something is left after the last attempt.
 */
export async function writeItems<T extends ItemKey>(items: readonly T[], deps: WriteDeps<T>): Promise<void> {
  const { table, batchWrite, signal } = deps
  await eachConcurrently(slices(items, itemsPerWrite), callsAtOnce, (some) => {
    const context = { what: `write ${some.length} items to table ${table}`, signal }
    const send = (rest: T[]) =>
      batchWrite(rest, signal).catch((error: unknown) => {
        const failure = storageError(error, context)
        if (failure instanceof RetryableError) return failure
        throw failure
      })
    return untilDone(some, send, { ...deps, ...context })
  })
}

/**
 * The items that exist under any number of different keys, in no order, as the last acknowledged write left them. What
 * DynamoDB leaves unread is asked for again; a call that fails was repeated by the SDK, and is not repeated here.
 * @throws RetryableError when something is left after the last attempt.
 */
export async function readItems<T extends object>(keys: readonly Partial<ItemKey>[], deps: ReadDeps): Promise<T[]> {
  const { documents, table, projection, signal } = deps
  const found: T[] = []
  await eachConcurrently(slices(keys, keysPerRead), callsAtOnce, (some) => {
    const send = async (Keys: Partial<ItemKey>[]) => {
      const request = { Keys, ConsistentRead: true, ...(projection ? { ProjectionExpression: projection } : {}) }
      const command = new BatchGetCommand({ RequestItems: { [table]: request } })
      const { Responses, UnprocessedKeys } = await documents.send(command, signal ? { abortSignal: signal } : {})
      found.push(...((Responses?.[table] ?? []) as T[]))
      return UnprocessedKeys?.[table]?.Keys ?? []
    }
    return untilDone([...some], send, { ...deps, what: `read ${some.length} items from table ${table}` })
  })
  return found
}

/** `send` does what it can and returns the rest, or the failure after which all of it may be sent again. */
function untilDone<T>(
  work: T[],
  send: (work: T[]) => Promise<T[] | RetryableError>,
  { clock, random, what, signal }: Jitter & CallContext,
): Promise<void> {
  let rest = work
  const attempt = async () => {
    const left = await send(rest)
    if (left instanceof RetryableError) return left
    rest = left
    if (rest.length > 0) return undone(what, rest.length)
  }
  return callAws({ what, signal }, () =>
    retry(attempt, { attempts, waits: fullJitter({ clock, random }, growth), signal }),
  )
}

function undone(what: string, count: number): RetryableError {
  const message = `can't ${what} now: DynamoDB left ${count} undone. The next attempt goes on from the checkpoint`
  return new RetryableError(message, { code: 'storage_unavailable' })
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import { Checkpoint, newCheckpoint, resetCheckpoint, ScanSummary } from '../sync/checkpoint.ts'
import type { Checkpoints, StateReader, StreamState, Waiting } from '../sync/ports.ts'
import { createLeasedItems, type ItemKey, type LeasedItem, unheldCondition } from './leased-items.ts'

/** The partition of the state table that holds one item per stream. */
const streamPartition = 'stream'

function keyOf(stream: string): ItemKey {
  return { pk: streamPartition, sk: stream }
}

/** Checkpoints in the state table: one item per stream. */
export function createCheckpoints(deps: { dynamodb: DynamoDBClient; table: string }): Checkpoints & StateReader {
  const items = createLeasedItems(deps)

  return {
    look: async (now) => {
      const found = await items.list(streamPartition)
      return eachOnce((stream) => stateIn(stream, { item: found.get(stream), now }))
    },
    read: async (stream) => {
      const item = await items.read(keyOf(stream))
      return item && checkpointOf(stream, item)
    },
    acquire: async (stream, claim) => {
      const taken = await items.acquire(keyOf(stream), claim)
      return 'heldBy' in taken ? taken : { checkpoint: checkpointOf(stream, taken), waiting: waitingOf(stream, taken) }
    },
    save: (checkpoint, lease) =>
      items.save(keyOf(checkpoint.stream), {
        lease: { ...lease, fence: checkpoint.fence },
        state: stateOf(checkpoint),
      }),
    complete: (checkpoint, lease, summary) =>
      items.save(keyOf(checkpoint.stream), {
        lease: { ...lease, fence: checkpoint.fence, release: true },
        state: stateOf(checkpoint),
        waiting: { id: summary.scanId, summary: JSON.stringify(summary) },
      }),
    unpublished: async (stream) => waitingIn(stream, await items.read(keyOf(stream))),
    unpublishedOf: async (streams) => {
      const found = await items.list(streamPartition)
      return streams.flatMap((stream) => waitingIn(stream, found.get(stream)))
    },
    markPublished: async (stream, scanId) => {
      await items.update(keyOf(stream), {
        UpdateExpression: 'REMOVE unpublished.#scan',
        ConditionExpression: 'attribute_exists(unpublished.#scan)',
        ExpressionAttributeNames: { '#scan': scanId },
      })
    },
    reset: async (stream, { index, now }) => {
      const item = await items.read(keyOf(stream))
      if (!item) return
      const checkpoint = readableOrNew(stream, item)
      const state = stateOf(resetCheckpoint(checkpoint, { index }))
      if (await items.update(keyOf(stream), resetIfUnheld(item.fence, state, now))) return
      // The SDK repeats a write whose answer got lost; the repetition finds the work done.
      const found = await items.read(keyOf(stream))
      if (found?.owner === null && found.fence === item.fence + 1 && found.state === state) return
      const message = `can't reset ${stream}: a worker is reading it now. Wait until it is done, or stop it, and try again`
      throw new FatalError(message, { code: 'usage' })
    },
  }
}

/** All shards ask for their parents, whose checkpoint is parsed once. */
function eachOnce(stateOf: (stream: string) => StreamState): (stream: string) => StreamState {
  const known = new Map<string, StreamState>()
  return (stream) => {
    const state = known.get(stream) ?? stateOf(stream)
    known.set(stream, state)
    return state
  }
}

function stateIn(stream: string, { item, now }: { item: LeasedItem | undefined; now: number }): StreamState {
  const holder = item?.owner && item.expiresAt > now ? { owner: item.owner, until: item.expiresAt } : null
  return { checkpoint: item ? checkpointOf(stream, item) : null, holder }
}

function waitingOf(stream: string, item: LeasedItem): Waiting {
  const bytes = Object.entries(item.unpublished).reduce((sum, [id, text]) => sum + Buffer.byteLength(id + text), 0)
  const ends = waitingIn(stream, item).map(({ completedAt }) => completedAt)
  return { scans: ends.length, bytes, since: ends.length === 0 ? null : Math.min(...ends) }
}

function waitingIn(stream: string, item: LeasedItem | null | undefined): ScanSummary[] {
  const summaries = Object.values(item?.unpublished ?? {}).map((text) => parse(ScanSummary, stream, text))
  return summaries.sort((a, b) => a.startedAt - b.startedAt || a.completedAt - b.completedAt)
}

/** The fence grows, so that a worker whose lease expired but who is still alive can't bring the old state back. */
function resetIfUnheld(fence: number, state: string, now: number) {
  return {
    UpdateExpression: 'SET #state = :state, fence = :next REMOVE leaseOwner, leaseExpiresAt',
    ConditionExpression: unheldCondition,
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':state': state,
      ':next': fence + 1,
      ':read': fence,
      ':now': now,
    },
  }
}

function stateOf({ stream: _stream, fence: _fence, ...rest }: Checkpoint): string {
  return JSON.stringify(rest)
}

function checkpointOf(stream: string, { fence, state }: LeasedItem): Checkpoint {
  return state === null
    ? { ...newCheckpoint(stream), fence }
    : { ...parse(Checkpoint.omit({ stream: true, fence: true }), stream, state), stream, fence }
}

/** A reset is the way out of a checkpoint that can't be read, so it may not fail on one. */
function readableOrNew(stream: string, item: LeasedItem): Checkpoint {
  try {
    return checkpointOf(stream, item)
  } catch {
    // It may have completed scans: then what they left in the records table is known, and can be found gone.
    return { ...newCheckpoint(stream), scansCompleted: 1 }
  }
}

function parse<S extends z.ZodType>(schema: S, stream: string, text: string): z.infer<S> {
  const goBack = `run \`platform-sync reset ${stream}\``
  try {
    return schema.parse(ofKnownForm(JSON.parse(text), { what: `checkpoint of ${stream}`, goBack }))
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    const message = `the checkpoint of ${stream} can't be read. Run \`platform-sync reset ${stream}\` to begin its scan anew`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}

import { shardLabel } from '../streams/shards.ts'
import { Counts, type Notice, type StreamStatus } from './checkpoint.ts'
import type { StreamResult } from './context.ts'
import { gravest } from './observe.ts'

/** From what needs attention first to what needs none: of a stream in shards, the gravest of its shards' is its status. */
const gravity: readonly (StreamStatus | null)[] = [
  'failed',
  'rate_limited',
  'running',
  'paused',
  'suspect',
  'skipped',
  null,
  'complete',
]

/** How a shard stands, or ended. */
export type ShardState = { stream: string; status: StreamStatus | null; reason: string | null }

/** The status and reason of a stream by those of its shards: the gravest, and which shards are not complete. */
export function stateOfShards<S extends StreamStatus | null>(
  shards: readonly (ShardState & { status: S })[],
): { status: S; reason: string | null } {
  const ranked = shards.toSorted((a, b) => gravity.indexOf(a.status) - gravity.indexOf(b.status))
  const [first] = ranked
  if (!first) throw new TypeError('There is no stream without shards.')
  const open = ranked.filter(({ status }) => status !== 'complete')
  if (open.length === 0) return { status: first.status, reason: null }
  const isSame = open.length === shards.length && open.every(({ reason }) => reason === first.reason)
  return { status: first.status, reason: isSame ? first.reason : openText(open, shards.length) }
}

const shardsTold = 8
const reasonsTold = 3

function openText(open: readonly ShardState[], all: number): string {
  const told = open.slice(0, shardsTold).map(({ stream, status, reason }, n) => {
    const why = n < reasonsTold && reason !== null ? `: ${reason}` : ''
    return `${shardLabel(stream)} (${status ?? 'never read'}${why})`
  })
  const left = open.length - told.length
  return `${open.length} of ${all} shards are not complete: ${told.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}

/** The result of a stream in shards, as people see it: one line, counts added up, the shards that are not complete named. */
export function resultOfShards(stream: string, shards: readonly StreamResult[]): StreamResult {
  const { status, reason } = stateOfShards(shards)
  const waits = shards.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  const notices: Notice[] = shards.flatMap((shard) => shard.notices ?? [])
  return {
    stream,
    runId: shards[0]?.runId ?? '',
    status,
    reason,
    retryAfterMs: waits.length > 0 ? Math.max(...waits) : null,
    counts: sumOf(shards.flatMap(({ counts }) => counts ?? [])),
    ofRun: sumOf(shards.flatMap(({ ofRun }) => ofRun ?? [])),
    notices: gravest(notices),
  }
}

/** Counts added up; null when there are none. */
export function sumOf(all: readonly Counts[]): Counts | null {
  if (all.length === 0) return null
  const sum = Counts.parse({})
  for (const { invalid, ...numbers } of all) {
    for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) sum[name] += numbers[name]
    for (const [field, count] of Object.entries(invalid)) sum.invalid[field] = (sum.invalid[field] ?? 0) + count
  }
  return sum
}

import { eachConcurrently } from '../core/concurrency.ts'
import type { Notice } from '../sync/checkpoint.ts'
import type { Run } from '../sync/context.ts'
import type { Checkpoints } from '../sync/ports.ts'

const readsAtOnce = 8

/** What is to be said about the shards whose scans ended in a run: their checkpoints know, since their results are short. */
export async function noticesOfShards(
  shards: readonly string[],
  { runId }: Run,
  { checkpoints }: { checkpoints: Pick<Checkpoints, 'read'> },
): Promise<ReadonlyMap<string, Notice[]>> {
  const found = new Map<string, Notice[]>()
  await eachConcurrently(shards, readsAtOnce, async (shard) => {
    const checkpoint = await checkpoints.read(shard)
    if (checkpoint?.runId === runId && checkpoint.notices) found.set(shard, checkpoint.notices)
  })
  return found
}

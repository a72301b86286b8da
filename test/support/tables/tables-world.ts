import type { Json } from '../../../lib/core/json.ts'
import { defaultFileSize, defaultProgressMs, type IcebergDeps } from '../../../lib/publish/iceberg/ports.ts'
import { createIcebergTables } from '../../../lib/publish/iceberg/tables.ts'
import { type PublishDeps, publishRun } from '../../../lib/publish/publish.ts'
import type { ObjectStore } from '../../../lib/stores/objects.ts'
import { createPublishingLake } from '../../../lib/stores/publishing-lake.ts'
import { rowFiles } from '../../../lib/stores/row-files.ts'
import { createFolderPointers } from '../../../lib/stores/table-pointers.ts'
import { streams } from '../../../lib/streams/index.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import type { SyncSettings } from '../../../lib/sync/context.ts'
import { listOf } from '../../sync/support/source.ts'
import { createWorld } from '../../sync/support/world.ts'
import { createMemoryObjects } from '../memory/objects.ts'

/** How a run is published: the streams that it read, and what the publisher works with. */
type Publishing = Partial<PublishDeps> & { read?: readonly Stream[] }

export type TablesWorld = ReturnType<typeof createTablesWorld>

/** A world whose lake is Parquet in a bucket in memory, and whose runs keep the tables. */
export function createTablesWorld({
  address = 'memory://lake',
  objects = createMemoryObjects(),
  settings = {},
}: {
  address?: string
  objects?: ObjectStore
  settings?: Partial<SyncSettings>
} = {}) {
  const lake = createPublishingLake(objects)
  const world = createWorld({ lake, settings })
  let attempts = 0
  const icebergDeps = (more: Partial<IcebergDeps> = {}): IcebergDeps => ({
    files: objects,
    rows: rowFiles,
    pointers: createFolderPointers({ objects, address }),
    streams,
    history: lake.readFiles,
    address,
    retention: { days: 5, snapshots: 10 },
    fileSize: defaultFileSize,
    progressMs: defaultProgressMs,
    clock: world.clock,
    newAttempt: () => `attempt ${++attempts}`,
    ...more,
  })
  const publish = async (
    run: { runId: string; scheduledAt: number },
    more: Partial<IcebergDeps> = {},
    { read = streams, ...publisher }: Publishing = {},
  ) => {
    const tables = createIcebergTables(icebergDeps(more))
    const result = await publishRun(run, read, world.publishDeps({ lake, tables, ...publisher }))
    if ('heldBy' in result) throw new Error(`held by ${result.heldBy}`)
    return result
  }
  return {
    ...world,
    lake,
    objects,
    icebergDeps,
    /** What the tables work with over another bucket, or this one with troubles. */
    icebergDepsOver: (over: ObjectStore) =>
      icebergDeps({ files: over, pointers: createFolderPointers({ objects: over, address }) }),
    publishRun: publish,
    /** A night: what the platform lists is synced and published. */
    night: async (
      lists: readonly (readonly [Stream, Json[]])[],
      more: Partial<IcebergDeps> = {},
      publishing: Publishing = {},
    ) => {
      const run = world.newRun()
      for (const [stream, records] of lists) await world.sync(stream, listOf(records), { runId: run.runId })
      return await publish(run, more, publishing)
    },
  }
}

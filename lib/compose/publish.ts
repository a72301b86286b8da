import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import { type Deadline, noDeadline } from '../core/deadline.ts'
import {
  MessagesVariables,
  PublishVariables,
  readVariables,
  ScheduleVariables,
  StoreVariables,
  type Variables,
} from '../core/env.ts'
import type { FinishDeps } from '../publish/finish-run.ts'
import { defaultFileSize, defaultProgressMs } from '../publish/iceberg/ports.ts'
import { createIcebergTables } from '../publish/iceberg/tables.ts'
import type { Announcer, Catalog, WarehouseTables } from '../publish/ports.ts'
import { createAnnouncer, createEventBridge, silentAnnouncer } from '../stores/announcer.ts'
import { createCatalog, createGlue, noCatalog } from '../stores/catalog.ts'
import { createPublications } from '../stores/publications.ts'
import { createPublishingLake } from '../stores/publishing-lake.ts'
import { rowFiles } from '../stores/row-files.ts'
import { createRuns } from '../stores/runs.ts'
import { createRunsTable } from '../stores/runs-table.ts'
import { streams, streamsAsRead } from '../streams/index.ts'
import { defaultSettings, type SyncSettings } from '../sync/context.ts'
import { pointersOf } from './pointers.ts'
import { RulesVariables, rulesInForce } from './rules-in-force.ts'
import { cloudOf, newOwner, type Runtime } from './runtime.ts'
import { schedulesFrom } from './schedules.ts'
import { openStores } from './stores.ts'

/** A runtime that may set how long a publisher holds its lease. */
export type PublishRuntime = Runtime & { settings?: Partial<Pick<SyncSettings, 'leaseMs'>> }

const Environment = StoreVariables.omit({ RECORDS_TABLE: true }).extend({
  ...PublishVariables.shape,
  ...MessagesVariables.shape,
  ...RulesVariables.shape,
  ...ScheduleVariables.shape,
})
type Environment = z.infer<typeof Environment>

/**
 * Builds what publishing a run needs.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composePublish(variables: Variables, runtime: PublishRuntime) {
  const env = readVariables(Environment, variables)
  const { clients, objects, checkpoints, index, clock, close } = openStores(env, runtime)
  const lake = createPublishingLake(objects)
  const state = { dynamodb: clients.dynamodb, table: env.STATE_TABLE }
  const runs = createRuns(state)
  const { leaseMs } = { ...defaultSettings, ...runtime.settings }
  const deps: Omit<FinishDeps, 'deadline'> = {
    ...{ checkpoints, lake, index, clock, newOwner, leaseMs },
    ...outletsOf(env),
    tables: tablesOf(env, { objects, lake, clock }),
    publications: createPublications(state),
    runs,
    runsTable: createRunsTable({ objects, runs }),
    rules: rulesInForce(env),
    log: runtime.log,
    published: streamsAsRead({ messages: env.MESSAGES_ENABLED }),
  }
  /** What finishing a run needs; a laptop has all the time. */
  const finishDeps = (deadline: Deadline = noDeadline): FinishDeps => ({ ...deps, deadline })
  return { finishDeps, lake, close }
}

/** The places where the warehouse and others learn what was published. A laptop has neither a catalog nor an event bus. */
function outletsOf(env: Environment): { catalog: Catalog; announcer: Announcer } {
  const { CATALOG_DATABASE: database, EVENT_BUS: bus, LAKE_BUCKET: bucket } = env
  const target = cloudOf(env)
  const reporting = schedulesFrom(env.RUN_SCHEDULES).flatMap(({ name, report }) => (report ? [name] : []))
  return {
    catalog: database ? createCatalog({ glue: createGlue(target), database, bucket, streams }) : noCatalog,
    announcer: bus
      ? createAnnouncer({ eventBridge: createEventBridge(target), bus, bucket, reporting })
      : silentAnnouncer,
  }
}

type TablesStores = Pick<ReturnType<typeof openStores>, 'objects' | 'clock'> & {
  lake: ReturnType<typeof createPublishingLake>
}

/** Iceberg tables, kept by the publisher. */
function tablesOf(env: Environment, { objects, lake, clock }: TablesStores): WarehouseTables {
  return createIcebergTables({
    files: objects,
    rows: rowFiles,
    ...pointersOf(env, objects),
    streams: streamsAsRead({ messages: true }),
    history: lake.readFiles,
    retention: { days: env.SNAPSHOT_DAYS, snapshots: env.SNAPSHOT_COUNT },
    fileSize: defaultFileSize,
    progressMs: defaultProgressMs,
    clock,
    newAttempt: randomUUID,
  })
}

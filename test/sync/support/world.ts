import { noDeadline } from '../../../lib/core/deadline.ts'
import type { Log } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { createPatience } from '../../../lib/core/patience.ts'
import type { Manifest } from '../../../lib/publish/manifest.ts'
import { type PublishDeps, publishRun } from '../../../lib/publish/publish.ts'
import { streams } from '../../../lib/streams/index.ts'
import { keyText } from '../../../lib/streams/keys.ts'
import { shardsOf } from '../../../lib/streams/shards.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import { columnsOf, type Table } from '../../../lib/streams/table.ts'
import { defaultSettings, type StreamResult, type SyncDeps, type SyncSettings } from '../../../lib/sync/context.ts'
import type { Source } from '../../../lib/sync/ports.ts'
import { syncStream } from '../../../lib/sync/sync-stream.ts'
import { createMemoryCheckpoints } from '../../support/memory/checkpoints.ts'
import { createMemoryIndexStore } from '../../support/memory/index-store.ts'
import { createMemoryLake, type Row } from '../../support/memory/lake.ts'
import { createMemoryPublications } from '../../support/memory/publications.ts'
import { createMemoryRecords } from '../../support/memory/records.ts'
import { type ManualClock, manualClock } from './clock.ts'

/** All ports in memory, a clock that stands still, and the engine on top of them. */
export type World = ReturnType<typeof createWorld>

type Overrides = Omit<Partial<SyncDeps>, 'settings'> & { settings?: Partial<SyncSettings> }

/** A world in which nothing was synced yet. Overrides hold for every attempt. */
export function createWorld(overrides: Overrides = {}) {
  const clock: ManualClock = manualClock()
  const warnings: string[] = []
  const note = (message: string) => void warnings.push(message)
  const log: Log = { debug() {}, info() {}, warn: note, error: note }
  const checkpoints = createMemoryCheckpoints()
  const stores = {
    checkpoints,
    records: createMemoryRecords(),
    lake: createMemoryLake(),
    index: createMemoryIndexStore(),
    publications: createMemoryPublications(),
  }
  let attempts = 0
  let runs = 0
  const newOwner = () => `worker-${++attempts}`
  const deps = (source: Source, more: Overrides = {}): SyncDeps => ({
    ...stores,
    clock,
    log,
    newOwner,
    metrics: noMetrics,
    deadline: noDeadline,
    patience: createPatience(60_000),
    redact: (record) => record,
    digestKey: (purpose) => Buffer.from(purpose),
    observers: {},
    ...overrides,
    ...more,
    source,
    settings: { ...defaultSettings, ...overrides.settings, ...more.settings },
  })
  const publishDeps = (more: Partial<PublishDeps> = {}): PublishDeps => ({
    ...stores,
    clock,
    log,
    newOwner,
    leaseMs: 60_000,
    catalog: { register: async () => {} },
    tables: { namesOf: () => [], follow: async () => false },
    deadline: noDeadline,
    published: streams.flatMap((stream) => [stream, ...shardsOf(stream)]),
    ...more,
  })
  /** A run id of its own, an hour after the last. */
  const newRun = () => {
    clock.advance(3_600_000)
    return { runId: `run-${++runs}`, scheduledAt: clock.now() }
  }

  return {
    ...stores,
    clock,
    warnings,
    deps,
    publishDeps,
    newRun,
    /** One attempt, in a run of its own unless one is given. */
    sync: (stream: Stream, source: Source, more: Overrides & { runId?: string } = {}): Promise<StreamResult> => {
      const { runId, ...rest } = more
      return syncStream(stream, runId ? { runId, scheduledAt: 0 } : newRun(), deps(source, rest))
    },
    publish: async (streams: Stream[], runId = newRun().runId): Promise<Manifest> => {
      const result = await publishRun({ runId, scheduledAt: 0 }, streams, publishDeps())
      if (!('manifest' in result)) throw new Error(`held by ${result.heldBy}`)
      return result.manifest
    },
    /** The rows of a stream's main table as readers see them now, by key: the newest, unless it is a delete. */
    current: (stream: Stream): Map<string, Row> =>
      currentRows(stores.lake.publishedRows(stream.tables[0].name), stream),
    /** Keys of the records table that live. */
    live: (stream: Stream): string[] =>
      [...stores.records.all(stream.name).values()].filter(({ deletedAt }) => deletedAt === null).map(({ key }) => key),
  }
}

function currentRows(rows: Row[], stream: Stream): Map<string, Row> {
  const { key } = stream.tables[0] as Table
  const keyOf = (row: Row) => keyText(key.map((column) => String(row[column])))
  const newest = new Map<string, Row>()
  const age = (row: Row) => [row._synced_at as number, row._sequence as number] as const
  for (const row of rows) {
    const before = newest.get(keyOf(row))
    if (before) {
      const [[syncedAt, sequence], [otherAt, otherSequence]] = [age(row), age(before)]
      if (syncedAt === otherAt && sequence === otherSequence)
        throw new Error(`two rows of ${keyOf(row)} are equally new`)
      if (syncedAt < otherAt || (syncedAt === otherAt && sequence < otherSequence)) continue
    }
    newest.set(keyOf(row), row)
  }
  return new Map([...newest].filter(([, row]) => row._op === 'upsert'))
}

/** Names of a table's own columns, for tests that compare cells. */
export function columnNames(stream: Stream): string[] {
  return columnsOf(stream.tables[0]).map(({ name }) => name)
}

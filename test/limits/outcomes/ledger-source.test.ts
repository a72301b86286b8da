import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noDeadline } from '../../../lib/core/deadline.ts'
import type { Json } from '../../../lib/core/json.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { createPatience } from '../../../lib/core/patience.ts'
import { createLedgerSource } from '../../../lib/limits/outcomes/ledger-source.ts'
import { publishRun } from '../../../lib/publish/publish.ts'
import { createCheckpoints } from '../../../lib/stores/checkpoints.ts'
import { createIndexStore } from '../../../lib/stores/index-store.ts'
import { createPublications } from '../../../lib/stores/publications.ts'
import { createPublishingLake } from '../../../lib/stores/publishing-lake.ts'
import { createRecords } from '../../../lib/stores/records.ts'
import { creditLimitOutcomes } from '../../../lib/streams/credit-limit-outcomes.ts'
import { defaultSettings, type SyncDeps } from '../../../lib/sync/context.ts'
import { syncStream } from '../../../lib/sync/sync-stream.ts'
import { useEmulatedLimits } from '../emulated.ts'
import { intent, message, newOwner, type Platform, startPlatform, workerOn } from '../fixture.ts'

const limits = useEmulatedLimits()
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.simulator.close())

/** The clock stands still unless the test moves it, so that no lease runs out by being watched. */
function untilAborted(_ms: number, signal?: AbortSignal) {
  return new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
}

function setUp() {
  const { emulated } = limits()
  const worker = workerOn(platform)
  const state = { dynamodb: emulated.dynamodb, table: emulated.stateTable }
  const deps = {
    source: createLedgerSource(worker.reader),
    records: createRecords({
      dynamodb: emulated.dynamodb,
      table: emulated.recordsTable,
      bodies: emulated.lake,
      clock: platform.clock,
      random: Math.random,
    }),
    observers: {},
    redact: (record: Json) => record,
    digestKey: (purpose: string) => Buffer.from(purpose),
    deadline: noDeadline,
    patience: createPatience(0),
    metrics: noMetrics,
    settings: defaultSettings,
    checkpoints: createCheckpoints(state),
    publications: createPublications(state),
    lake: createPublishingLake(emulated.lake),
    index: createIndexStore(emulated.lake, emulated.lakeStreams),
    catalog: { register: async () => {} },
    tables: { namesOf: () => [], follow: async () => false },
    published: [creditLimitOutcomes],
    clock: { now: platform.clock.now, sleep: untilAborted },
    log: silentLog,
    newOwner,
    leaseMs: 60_000,
  }
  return { worker, deps, lake: emulated.lake }
}

/** The rows of a table's files, read by another engine. */
async function rowsOf(lake: ReturnType<typeof setUp>['lake'], keys: string[]) {
  const connection = await (await DuckDBInstance.create()).connect()
  const paths = await Promise.all(
    keys.map(async (key, i) => {
      const path = join(tmpdir(), `outcomes-${process.pid}-${i}.parquet`)
      writeFileSync(path, (await lake.get(key)) ?? new Uint8Array())
      return path
    }),
  )
  const result = await connection.runAndReadAll(
    `select email, credit_limit, outcome, previous_credit_limit, _run_id, epoch_ms(requested_at) as requested_at
     from read_parquet(${JSON.stringify(paths).replaceAll('"', "'")}) order by email`,
  )
  return result.getRowObjectsJson()
}

function scan(runId: string, deps: SyncDeps) {
  return syncStream(creditLimitOutcomes, { runId, scheduledAt: 0 }, deps)
}

describe('outcomes on their way to the lake', () => {
  it('appear with the next run, and those of later requests with the run after it', async () => {
    const { worker, deps, lake } = setUp()
    const [ana, bob] = platform.users.toSorted() as [string, string]
    await worker.apply([message(intent({ [ana]: 5, 'zoe@x.io': 6 }, { requestId: 'r1' }))])
    await platform.clock.sleep(20 * 60_000)

    expect(await scan('run-1', deps)).toMatchObject({ status: 'complete', counts: { received: 2, inserted: 2 } })
    const first = await publishRun({ runId: 'run-1', scheduledAt: 0 }, [creditLimitOutcomes], deps)
    const [published] = 'manifest' in first ? first.manifest.scans : []
    expect(published).toMatchObject({ stream: 'credit_limit_outcomes', status: 'complete', records: 2 })
    const files = Object.groupBy(published?.files ?? [], ({ table }) => table)
    expect(files.credit_limit_changes).toMatchObject([{ rows: 1 }])
    expect(await rowsOf(lake, files.credit_limit_outcomes?.map(({ key }) => key) ?? [])).toMatchObject([
      { email: ana, credit_limit: '5', outcome: 'applied', previous_credit_limit: null, _run_id: 'run-1' },
      { email: 'zoe@x.io', credit_limit: '6', outcome: 'rejected' },
    ])

    await platform.clock.sleep(24 * 3_600_000)
    await worker.apply([message(intent({ [bob]: 7 }, { requestId: 'r2' }))])
    await platform.clock.sleep(20 * 60_000)
    expect(await scan('run-2', deps)).toMatchObject({ counts: { received: 1, inserted: 1 } })
    const second = await publishRun({ runId: 'run-2', scheduledAt: 0 }, [creditLimitOutcomes], deps)
    expect('manifest' in second && second.manifest.scans).toMatchObject([{ records: 3, counts: { received: 1 } }])

    await platform.clock.sleep(24 * 3_600_000)
    expect(await scan('run-3', deps)).toMatchObject({ status: 'complete', counts: { received: 0 } })
    const third = await publishRun({ runId: 'run-3', scheduledAt: 0 }, [creditLimitOutcomes], deps)
    expect('manifest' in third && third.manifest.scans).toEqual([])
    expect(await deps.lake.readManifest('run-3')).toBeNull()
    expect(await deps.checkpoints.unpublished('credit_limit_outcomes')).toEqual([])
  })

  it('come once, though each scan reads the last minutes before it again, and nothing is ever gone', async () => {
    const { worker, deps } = setUp()
    await platform.clock.sleep(24 * 3_600_000)
    const sized = Object.fromEntries(platform.users.slice(0, 25).map((user, i) => [user, i]))
    await worker.apply([message(intent(sized, { requestId: 'r3' }))])
    await platform.clock.sleep(60_000)
    expect(await scan('run-4', deps)).toMatchObject({ counts: { received: 25, inserted: 25 } })
    await platform.clock.sleep(60_000)
    expect(await scan('run-5', deps)).toMatchObject({ counts: { received: 25, unchanged: 25, deleted: 0 } })
    await platform.clock.sleep(24 * 3_600_000)
    expect(await scan('run-6', deps)).toMatchObject({ counts: { received: 25, unchanged: 25, deleted: 0 } })
    await platform.clock.sleep(24 * 3_600_000)
    expect(await scan('run-7', deps)).toMatchObject({ status: 'complete', counts: { received: 0, deleted: 0 } })
  })

  it('are in files of bounded size, and nothing is lost when the worker fails before the scan completes', async () => {
    const { worker, deps } = setUp()
    await platform.clock.sleep(24 * 3_600_000)
    const sized = Object.fromEntries(platform.users.slice(0, 25).map((user, i) => [user, i + 100]))
    await worker.apply([message(intent(sized, { requestId: 'r4' }))])
    await platform.clock.sleep(20 * 60_000)
    const writeFiles = async () => {
      throw new Error('killed')
    }
    const settings = { ...defaultSettings, flushRecords: 10 }
    const dying = { ...deps, settings, index: { ...deps.index, writeFiles } }
    await expect(scan('run-8', dying)).rejects.toThrow('killed')
    expect(await scan('run-8', { ...deps, settings })).toMatchObject({ status: 'complete', counts: { inserted: 25 } })
    const result = await publishRun({ runId: 'run-8', scheduledAt: 0 }, [creditLimitOutcomes], deps)
    const files = 'manifest' in result ? (result.manifest.scans.at(-1)?.files ?? []) : []
    for (const table of ['credit_limit_outcomes', 'credit_limit_changes']) {
      const own = files.filter((file) => file.table === table)
      expect(own.reduce((sum, { rows }) => sum + rows, 0)).toBe(25)
    }
  })
})

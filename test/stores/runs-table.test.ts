import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import { runsKey } from '../../lib/stores/lake-paths.ts'
import { rowFiles } from '../../lib/stores/row-files.ts'
import { createRunsTable } from '../../lib/stores/runs-table.ts'
import { runsColumns } from '../../lib/streams/runs-table.ts'
import type { Cell } from '../../lib/streams/table.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { createMemoryRuns } from '../support/memory/publications.ts'

const dayMs = 86_400_000
const march = Date.UTC(2026, 2, 1, 2)

function record(scheduledAt: number, more: Partial<RunRecord['streams'][number]> = {}): RunRecord {
  const compact = new Date(scheduledAt).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
  const stream = { stream: 'sessions', status: 'complete', reason: null, counts: null } as const
  const streams = [{ ...stream, ...more }]
  return { runId: `${compact}-nightly`, scheduledAt, finishedAt: scheduledAt + 60_000, status: 'complete', streams }
}

function createLake() {
  const objects = createMemoryObjects()
  const runs = createMemoryRuns()
  const table = createRunsTable({ objects, runs })
  return {
    objects,
    runs,
    table,
    run: async (one: RunRecord) => {
      await runs.write(one)
      await table.note(one)
    },
    rows: async (month: string) => {
      const bytes = await objects.get(runsKey(month))
      const rows: Record<string, Cell>[] = []
      if (bytes === null) return rows
      for await (const group of rowFiles.read(bytes, runsColumns)) {
        for (const row of group[0]?.keys() ?? []) {
          rows.push(Object.fromEntries(runsColumns.map(({ name }, at) => [name, group[at]?.[row] ?? null])))
        }
      }
      return rows
    },
  }
}

describe('the table of runs', () => {
  it('says of each stream how it ended, what the run counted and which rules were in force', async () => {
    const { run, rows } = createLake()
    const scan = Counts.parse({ received: 9, inserted: 9, apiCalls: 3 })
    const ofRun = Counts.parse({ received: 2, inserted: 2, apiCalls: 1, invalid: { email: 2 } })
    const standing = { completeAt: march, scanEndedAt: march + 5, records: 9 }
    await run(record(march, { counts: scan, ofRun, standing, rules: { email: 'hash' } }))
    await run(record(march + dayMs, { status: 'failed', reason: 'down' }))
    const [first, second] = await rows('2026-03')
    expect(first).toMatchObject({
      ...{ run_id: '20260301T020000Z-nightly', schedule: 'nightly', scheduled_at: march, stream: 'sessions' },
      ...{
        complete_at: march,
        scan_ended_at: march + 5,
        records: 9,
        received: 2,
        inserted: 2,
        deleted: 0,
        requests: 1,
      },
      ...{ invalid: '{"email":2}', field_rules: '{"email":"hash"}', notices: null },
    })
    expect(second).toMatchObject({ status: 'failed', reason: 'down', received: null, complete_at: null, invalid: null })
  })

  it('has one object a month, whatever runs there were, and rows of a run once', async () => {
    const { run, rows, objects } = createLake()
    for (let day = 0; day < 40; day++) await run(record(march + day * dayMs))
    await run(record(march + 39 * dayMs, { status: 'failed' }))
    await run(record(march + 3 * dayMs, { status: 'suspect' }))
    expect(await objects.list('')).toEqual([runsKey('2026-03'), runsKey('2026-04')])
    expect([await rows('2026-03'), await rows('2026-04')]).toMatchObject([{ length: 31 }, { length: 9 }])
    expect((await rows('2026-03')).map(({ status }) => status).filter((status) => status !== 'complete')).toEqual([
      'suspect',
    ])
    expect((await rows('2026-04')).at(-1)).toMatchObject({ status: 'failed' })
  })

  it('gets what an earlier run could not write, also of the month before and of versions that wrote none', async () => {
    const { run, runs, rows } = createLake()
    await runs.write(record(Date.UTC(2026, 0, 31, 2)))
    for (const day of [0, 2]) await run(record(march + day * dayMs))
    await runs.write(record(march + 3 * dayMs))
    await run(record(march + 4 * dayMs))
    await runs.write(record(march + 30 * dayMs))
    await run(record(march + 31 * dayMs))
    expect(await rows('2026-01')).toHaveLength(1)
    const days = (await rows('2026-03')).map(({ scheduled_at }) => new Date(Number(scheduled_at)).getUTCDate())
    expect(days).toEqual([1, 3, 4, 5, 31])
  })

  it('keeps rows whose records have expired', async () => {
    const { objects, run, rows } = createLake()
    await run(record(march))
    await createRunsTable({ objects, runs: createMemoryRuns() }).note(record(march + dayMs))
    const later = record(march + 40 * dayMs)
    const runs = createMemoryRuns()
    await runs.write(later)
    await createRunsTable({ objects, runs }).note(later)
    expect([await rows('2026-03'), await rows('2026-04')]).toMatchObject([{ length: 1 }, { length: 1 }])
  })

  it('has the rows of both, when two runs end at the same time', async () => {
    const { runs, table, rows } = createLake()
    const both = [record(march), record(march + 900_000)]
    for (const one of both) await runs.write(one)
    await Promise.all(both.map((one) => table.note(one)))
    expect((await rows('2026-03')).map(({ run_id }) => run_id)).toEqual(both.map(({ runId }) => runId))
  })
})

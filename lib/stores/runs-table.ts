import type { RunRecord } from '../publish/manifest.ts'
import type { Runs, RunsTable } from '../publish/ports.ts'
import { runRows } from '../publish/run-rows.ts'
import { runsColumns, runsTable } from '../streams/runs-table.ts'
import type { Cell } from '../streams/table.ts'
import { runsKey } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { readRows } from './read-rows.ts'
import { encodeParquet } from './row-files.ts'

type Deps = { objects: ObjectStore; runs: Pick<Runs, 'between'> }
type Row = readonly Cell[]

const dayMs = 86_400_000
/** As far back as records of runs are kept. */
const monthsBack = 13

/**
 * The table of runs in a bucket: a Parquet file per month, made again from the records of runs at the end of each run.
 * Rows stay when the records behind them have expired.
 */
export function createRunsTable(deps: Deps): RunsTable {
  return {
    note: async ({ scheduledAt }) => {
      await bringUpToDate(monthAt(scheduledAt, 0), scheduledAt, {
        ...deps,
        // The last runs of a month may have failed to write their rows, and older versions wrote none.
        first: async () => {
          const earlier = await deps.runs.between(monthAt(scheduledAt, -monthsBack), monthAt(scheduledAt, 0))
          for (const month of new Set(earlier.map((run) => monthAt(run.scheduledAt, 0)))) {
            await bringUpToDate(month, Number.POSITIVE_INFINITY, deps)
          }
        },
      })
    },
  }
}

/** The beginning of the month that a time is in, or of another one. */
function monthAt(unixMs: number, offset: number): number {
  const at = new Date(unixMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset)
}

/** `since`: records from then on are looked at in any case. `first` is called where the month has no file yet. */
async function bringUpToDate(
  month: number,
  since: number,
  { objects, runs, first }: Deps & { first?: () => Promise<void> },
): Promise<void> {
  const change = async (bytes: Uint8Array | null) => {
    if (bytes === null) await first?.()
    const before = bytes === null ? [] : await rowsIn(bytes)
    const from = bytes === null ? month : Math.min(newest(before) - dayMs, since)
    const records = await runs.between(Math.max(from, month), monthAt(month, 1))
    const after = merged(before, records)
    return JSON.stringify(after) === JSON.stringify(before) ? null : fileOf(after)
  }
  const key = runsKey(new Date(month).toISOString().slice(0, 7))
  await objects.replace(key, change, { contentType: 'application/vnd.apache.parquet' })
}

const [runAt, dueAt, streamAt] = ['run_id', 'scheduled_at', 'stream'].map((name) =>
  runsColumns.findIndex((column) => column.name === name),
) as [number, number, number]

function newest(rows: readonly Row[]): number {
  return rows.reduce((latest, row) => Math.max(latest, Number(row[dueAt])), Number.NEGATIVE_INFINITY)
}

/** A run's rows are replaced together. */
function merged(before: readonly Row[], records: readonly RunRecord[]): Row[] {
  const told = new Set<Cell>(records.map(({ runId }) => runId))
  const kept = before.filter((row) => !told.has(row[runAt] ?? null))
  const place = (row: Row) => [new Date(Number(row[dueAt])).toISOString(), row[runAt], row[streamAt]].join(' ')
  return [...kept, ...records.flatMap(runRows)].sort((a, b) => (place(a) < place(b) ? -1 : 1))
}

async function rowsIn(bytes: Uint8Array): Promise<Row[]> {
  const rows: Row[] = []
  for await (const group of readRows(bytes, runsColumns)) {
    for (let row = 0; row < (group[0]?.length ?? 0); row++) rows.push(group.map((cells) => cells[row] ?? null))
  }
  return rows
}

function fileOf(rows: readonly Row[]): Uint8Array {
  const columns = runsColumns.map((_, at) => rows.map((row) => row[at] ?? null))
  return encodeParquet(runsTable, runsColumns, columns)
}

import { type Stream, tablesOf } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { WarehouseTables } from '../ports.ts'
import { bringUpToDate } from './current-table.ts'
import { appendToLog } from './log-table.ts'
import type { IcebergDeps } from './ports.ts'
import type { PublishedScan, TableUpdate } from './update.ts'

/**
 * Whether a table has a current state of its own. What happened does not change: the rows of a log that are there once
 * are current for ever, and rewriting them would cost the more the longer it is kept.
 */
export function hasCurrent({ mode, tables }: Stream, table: Table): boolean {
  return mode === 'full_refresh' && tables.some(({ name }) => name === table.name)
}

/**
 * The tables of the lake as Apache Iceberg v2 tables: `<table>`, a snapshot per run of what changed, and
 * `<table>_current`, a row per live record. They follow from the manifests of runs and can be made from these alone.
 */
export function createIcebergTables(deps: IcebergDeps): WarehouseTables {
  return {
    update: async ({ runId, scans }, { signal, stillMine }) => {
      for (const stream of deps.streams) {
        const own = scans.filter((scan) => scan.stream === stream.name)
        if (own.length === 0) continue
        const allScans = () => everyScan(own, deps)
        for (const table of tablesOf(stream)) {
          const update: TableUpdate = { stream, table, runId, scans: own, allScans, signal, stillMine, deps }
          await appendToLog(update)
          if (hasCurrent(stream, table)) await bringUpToDate(update)
          await stillMine()
        }
      }
    },
  }
}

/** All scans of a stream that were ever published, in the order they were made, these at the end. */
async function everyScan(own: readonly PublishedScan[], deps: IcebergDeps): Promise<readonly PublishedScan[]> {
  const ids = new Set(own.map(({ scanId }) => scanId))
  const stream = own[0]?.stream
  const earlier = (await deps.history()).flatMap(({ scans }) => scans.filter((scan) => scan.stream === stream))
  const others = earlier.filter(({ scanId }) => !ids.has(scanId))
  return [...others.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1)), ...own]
}

import { type Stream, tablesOf } from '../../streams/stream.ts'
import type { Table } from '../../streams/table.ts'
import type { PartFile } from '../../sync/checkpoint.ts'
import type { PublishedFile } from '../manifest.ts'
import type { WarehouseTables } from '../ports.ts'
import { bringUpToDate } from './current-table.ts'
import { createLook } from './inspect.ts'
import { appendToLog } from './log-table.ts'
import { currentOf, logOf } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import type { TableUpdate } from './update.ts'

/**
 * Whether a table has a current state of its own. What happened does not change: the rows of a log that are there once
 * are current for ever, and rewriting them would cost the more the longer it is kept.
 */
export function hasCurrent({ mode, tables }: Stream, table: Table): boolean {
  return mode !== 'append' && tables.some(({ name }) => name === table.name)
}

/** The names of all tables that there are. */
export function icebergNames(streams: readonly Stream[]): string[] {
  return streams.flatMap((stream) =>
    tablesOf(stream).flatMap((table) => {
      return hasCurrent(stream, table) ? [logOf(table).name, currentOf(table).name] : [logOf(table).name]
    }),
  )
}

/**
 * The tables of the lake as Apache Iceberg v2 tables: `<table>`, a snapshot per run of what changed, and
 * `<table>_current`, a row per live record. They follow from the manifests of runs and can be made from these alone.
 */
export function createIcebergTables(deps: IcebergDeps): WarehouseTables {
  return {
    update: async ({ runId, scans }, { signal, stillMine }) => {
      // Streams that feed the same tables come into them together: what one of them brings is not history to the next.
      for (const group of Map.groupBy(deps.streams, ({ tables }) => tables[0].name).values()) {
        const names = new Set(group.map(({ name }) => name))
        const own = scans.filter((scan) => names.has(scan.stream))
        const [stream] = group
        if (own.length === 0 || !stream) continue
        const files = own.flatMap((scan) => scan.files)
        const scanIds = own.map(({ scanId }) => scanId)
        const earlier = once(() => earlierFiles(names, files, deps))
        const look = createLook(tablesOf(stream), deps)
        for (const table of tablesOf(stream)) {
          const update: TableUpdate = { stream, table, runId, scanIds, files, earlier, look, signal, stillMine, deps }
          await appendToLog(update)
          if (hasCurrent(stream, table)) await bringUpToDate(update)
          await stillMine()
        }
      }
    },
  }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () => {
    answer ??= ask()
    return answer
  }
}

/** The streams' files of all publications but this one, which has `own`: oldest first. */
export async function earlierFiles(
  names: ReadonlySet<string>,
  own: readonly PartFile[],
  { history }: IcebergDeps,
): Promise<PublishedFile[][]> {
  const keys = new Set(own.map(({ key }) => key))
  const files = (await history()).filter(({ stream, key }) => names.has(stream) && !keys.has(key))
  const byTime = files.toSorted((a, b) => (a.publishedAt < b.publishedAt ? -1 : a.publishedAt > b.publishedAt ? 1 : 0))
  return [...Map.groupBy(byTime, ({ publishedAt }) => publishedAt).values()]
}

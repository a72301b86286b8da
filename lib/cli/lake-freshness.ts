import type { DuckDBConnection } from '@duckdb/node-api'
import { streams } from '../streams/index.ts'
import { wholeScanAt } from '../sync/freshness.ts'
import type { PublishedLake } from './lake-files.ts'

/** The view that tells how fresh each stream is. A run that changed nothing leaves no row anywhere else. */
export const freshnessView = '_freshness'

/** Creates the view of what the checkpoints say, from nothing where `checkpoints` are not given. */
export async function createFreshness(
  connection: DuckDBConnection,
  checkpoints: PublishedLake['checkpoints'],
): Promise<void> {
  await connection.run(
    'create table freshness_rows (stream varchar, complete_at timestamp, scan_ended_at timestamp, scan_status varchar, records bigint)',
  )
  for (const { name } of checkpoints ? streams : []) {
    const checkpoint = await checkpoints?.read(name)
    const last = checkpoint?.lastScan ?? null
    const cells = [checkpoint ? wholeScanAt(checkpoint) : null, last?.completedAt ?? null].map(timeOf)
    await connection.run(`insert into freshness_rows values ($1, ${cells.join(', ')}, $2, $3)`, [
      name,
      last?.status ?? null,
      last?.records ?? null,
    ])
  }
  await connection.run(`create view ${freshnessView} as from freshness_rows`)
}

function timeOf(unixMs: number | null): string {
  return unixMs === null ? 'null' : `epoch_ms(${Math.round(unixMs)})`
}

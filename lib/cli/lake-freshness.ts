import type { DuckDBConnection } from '@duckdb/node-api'
import { readCheckpoints, standingOf } from '../publish/standing.ts'
import { streams } from '../streams/index.ts'
import { shardsOf } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { Checkpoints } from '../sync/ports.ts'
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
  if (checkpoints) for (const stream of streams) await addRow(connection, stream, { checkpoints })
  await connection.run(`create view ${freshnessView} as from freshness_rows`)
}

async function addRow(
  connection: DuckDBConnection,
  stream: Stream,
  from: { checkpoints: Pick<Checkpoints, 'read'> },
): Promise<void> {
  const units = shardsOf(stream)
  const checkpointOf = await readCheckpoints(units, from)
  const { completeAt, scanEndedAt, records } = standingOf(units, checkpointOf)
  const ended = units.flatMap(({ name }) => checkpointOf(name)?.lastScan?.status ?? [])
  const status = ended.find((each) => each !== 'complete') ?? ended[0] ?? null
  const times = [completeAt, scanEndedAt].map(timeOf).join(', ')
  await connection.run(`insert into freshness_rows values ($1, ${times}, $2, $3)`, [stream.name, status, records])
}

function timeOf(unixMs: number | null): string {
  return unixMs === null ? 'null' : `epoch_ms(${Math.round(unixMs)})`
}

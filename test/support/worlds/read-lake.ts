import { gunzipSync } from 'node:zlib'
import type { DuckDBConnection } from '@duckdb/node-api'
import { sha256 } from '../../../lib/core/hash.ts'
import type { Manifest } from '../../../lib/publish/manifest.ts'
import { currentName, currentQuery } from '../../../lib/streams/current.ts'
import { type Stream, tablesOf } from '../../../lib/streams/stream.ts'
import type { PartFile } from '../../../lib/sync/checkpoint.ts'
import type { Contents } from './storage.ts'

/** The files that manifests list. */
export function filesIn(manifests: Manifest[]): PartFile[] {
  return manifests.flatMap(({ scans }) => scans.flatMap(({ files }) => files))
}

type Reading = {
  streams: readonly Stream[]
  duckdb: DuckDBConnection
  contents: Contents
  fileOf: (body: Buffer) => string
  /** What was read already, by table and bytes: many worlds hold the same. */
  read: Map<string, Rows>
}

/** All rows of a table, and the current ones. */
export type Rows = readonly [rows: string[], current: string[]]

/** What readers of the manifests see: rows, current rows, and what was quarantined. */
export async function readLake(manifests: Manifest[], { streams, duckdb, contents, fileOf, read }: Reading) {
  const rows: Record<string, string[]> = {}
  const current: Record<string, string[]> = {}
  const listed = filesIn(manifests)
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      const bodies = listed
        .filter((file) => file.kind === 'changes' && file.table === table.name)
        .map((file) => objectOf(contents, file))
      if (bodies.length === 0) continue
      const digest = [table.name, ...bodies.map((body) => sha256(body))].join()
      const before = read.get(digest)
      if (before) {
        ;[rows[table.name], current[table.name]] = before
        continue
      }
      const paths = bodies.map(fileOf)
      await duckdb.run(
        `create or replace temp table ${table.name} as select * from read_parquet([${paths.map((path) => `'${path}'`)}])`,
      )
      await duckdb.run(`create or replace temp view ${currentName(table)} as ${currentQuery(stream, table)}`)
      const observed = stream.observedTables?.includes(table) ?? false
      const found: Rows = [
        await rowsOf(duckdb, table.name, observed),
        await rowsOf(duckdb, currentName(table), observed),
      ]
      read.set(digest, found)
      ;[rows[table.name], current[table.name]] = found
    }
  }
  const quarantine = listed
    .filter(({ kind }) => kind === 'quarantine')
    .flatMap((file) => gunzipSync(objectOf(contents, file)).toString().trimEnd().split('\n'))
    .map((line) => JSON.stringify({ ...JSON.parse(line), scan_id: undefined }))
    .sort()
  return { rows, current, quarantine }
}

function objectOf({ objects }: Contents, { key }: PartFile): Buffer {
  const body = objects.get(key)
  if (!body) throw new Error(`a manifest lists ${key}, which is not there`)
  return body
}

/** Rows that an observer wrote and a dead process did not settle are written again, and differ in nothing that counts. */
async function rowsOf(duckdb: DuckDBConnection, name: string, observed: boolean): Promise<string[]> {
  const result = await duckdb.runAndReadAll(
    observed
      ? `select distinct columns(c -> not regexp_matches(c, '^(_.*|observed_.*|finding_hash)$')) from ${name}`
      : `select * exclude (_scan_id, _sequence, _synced_at), strftime(_synced_at, '%Y-%m-%d') as day from ${name}`,
  )
  return result
    .getRowObjectsJson()
    .map((row) => JSON.stringify(row))
    .sort()
}

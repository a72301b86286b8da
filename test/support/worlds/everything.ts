import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Contents } from './storage.ts'

/** Everything that is stored, as text: names, items, objects as they are and unpacked. */
export async function everythingIn({ state, records, hooks, objects }: Contents): Promise<string> {
  const texts = [JSON.stringify(state), JSON.stringify(records), JSON.stringify(hooks)]
  const dir = mkdtempSync(join(tmpdir(), 'everything-'))
  const duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  try {
    for (const [key, body] of objects) {
      texts.push(key, body.toString('latin1'))
      if (key.endsWith('.gz')) texts.push(gunzipSync(body).toString())
      if (key.endsWith('.zst')) texts.push(zstdDecompressSync(body).toString('latin1'))
      if (!key.endsWith('.parquet')) continue
      // A name of its own: DuckDB keeps what it read of a path.
      const path = join(dir, `${texts.length}.parquet`)
      writeFileSync(path, body)
      const rows = await duckdb.runAndReadAll(`select * from read_parquet('${path}')`)
      texts.push(JSON.stringify(rows.getRowObjectsJson()))
    }
    return texts.join('\n')
  } finally {
    duckdb.closeSync()
    rmSync(dir, { recursive: true, force: true })
  }
}

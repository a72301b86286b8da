import { DuckDBInstance } from '@duckdb/node-api'
import { atPath } from './out-path.ts'
import type { Warehouse } from './warehouse-run.ts'

/** Opens a DuckDB file, and makes it where there is none. @throws FatalError `usage` when it can't be. */
export async function openDuckDb(file: string): Promise<Warehouse> {
  const instance = await atPath(file, () => DuckDBInstance.create(file))
  const connection = await instance.connect()
  return {
    name: file,
    run: async (sql) => {
      await connection.run(sql)
    },
    ask: async (sql) => {
      const rows = (await connection.runAndReadAll(sql)).getRowsJson()
      return rows.map((row) => row.map((cell) => (cell === null ? '' : `${cell}`)))
    },
    close: async () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

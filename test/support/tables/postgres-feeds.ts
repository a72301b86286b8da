import type { PGlite } from '@electric-sql/pglite'
import { openPostgres } from '../../../lib/cli/warehouse-postgres.ts'
import { runLoad } from '../../../lib/cli/warehouse-run.ts'
import type { LoadableLake } from '../../../lib/cli/warehouse-script.ts'
import { currentName } from '../../../lib/streams/current.ts'
import type { Column } from '../../../lib/streams/table.ts'
import { targets } from '../../../lib/warehouse/targets.ts'
import type { servePostgres } from './postgres-server.ts'
import { cellsOf, changesOfRuns, groupsOfNights as groups, tablesOfNights } from './warehouse-nights.ts'

type Feed = { lake: LoadableLake; postgres: PGlite; server: Awaited<ReturnType<typeof servePostgres>> }

/** A schema that `--run` makes and loads, over TCP. */
export function createRunFeed(schema: string, { lake, postgres, server }: Feed) {
  const place = { dialect: targets.postgres, schema }
  return {
    load: async (signal = new AbortController().signal) => {
      const warehouse = await openPostgres(server.address, { schema })
      try {
        return await runLoad(warehouse, { lake, place, groups, runs: true, signal })
      } finally {
        await warehouse.close()
        await server.idle()
      }
    },
    ...readerOf(postgres, schema),
  }
}

/** What a schema has, to be compared with the lake. */
export function readerOf(postgres: PGlite, schema: string) {
  return {
    runs: async () => {
      const { rows } = await postgres.query(changesOfRuns(schema), [], { rowMode: 'array' })
      return rows.map(String)
    },
    current: async (views = schema) => {
      const rows = new Map<string, string[]>()
      for (const table of tablesOfNights) {
        const sql = cellsOf(table, { from: `${views}.${currentName(table)}`, asText: postgresText })
        const answer = await postgres.query<{ cells: string }>(sql)
        rows.set(table.name, answer.rows.map(({ cells }) => cells).toSorted())
      }
      return rows
    },
  }
}

function postgresText({ name, type }: Column): string {
  return type === 'timestamp' ? `(extract(epoch from ${name}) * 1000)::bigint::text` : `${name}::text`
}

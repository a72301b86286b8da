import { DuckDBInstance } from '@duckdb/node-api'
import { openLakeDatabase } from '../../../lib/cli/lake-database.ts'
import { type Answer, ask } from '../../../lib/cli/query-rows.ts'
import { openDuckDb } from '../../../lib/cli/warehouse-duckdb.ts'
import { runLoad } from '../../../lib/cli/warehouse-run.ts'
import type { LoadableLake } from '../../../lib/cli/warehouse-script.ts'
import type { Json } from '../../../lib/core/json.ts'
import { finishRun } from '../../../lib/publish/finish-run.ts'
import { createPublishingLake } from '../../../lib/stores/publishing-lake.ts'
import { createRunsTable } from '../../../lib/stores/runs-table.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { currentName } from '../../../lib/streams/current.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { tablesOf } from '../../../lib/streams/stream.ts'
import { type Column, columnsOf, type Table } from '../../../lib/streams/table.ts'
import { groupsOf } from '../../../lib/warehouse/groups.ts'
import { targets } from '../../../lib/warehouse/targets.ts'
import { listOf } from '../../sync/support/source.ts'
import { createWorld } from '../../sync/support/world.ts'
import { createMemoryObjects } from '../memory/objects.ts'
import { createMemoryRuns } from '../memory/publications.ts'

const loaded = [computers, organizationUsers]

/** The tables that these nights fill: two main ones, one of them with a nested one. */
export const tablesOfNights: readonly Table[] = loaded.flatMap(tablesOf)

/** The groups of these tables. */
export const groupsOfNights = groupsOf(tablesOfNights.map(({ name }) => name))

/** Names as a person may have, or a program may write. */
const oddNames = ['O\'Neil \\ "Sons"', 'tab\tand\nline', '\\N', '', '\\.', 'nul \0 here', '名前 🎉']

/** A lake of nights in which most records stay, some change with their parts, some go, and some of those come back. */
export function createNights() {
  const objects = createMemoryObjects()
  const lake = createPublishingLake(objects)
  const world = createWorld({ lake })
  const live = new Map<number, Record<string, Json>>()
  const runs = createMemoryRuns()
  const runsTable = createRunsTable({ objects, runs })
  let night = 0
  return {
    lake: { lake, objects, root: 's3://lake/' } satisfies LoadableLake,
    next: async () => {
      const run = world.newRun()
      const { runId } = run
      const results = [
        await world.sync(computers, listOf(changed(night, live)), { runId }),
        await world.sync(organizationUsers, listOf(people(night)), { runId }),
      ]
      const deps = {
        ...world.publishDeps({ lake }),
        runs,
        runsTable,
        rules: {},
        announcer: { announce: async () => {} },
      }
      await finishRun(run, { streams: loaded, results }, deps)
      night++
    },
    /** Asks the lake. */
    ask: async (sql: string): Promise<Answer> => {
      const { connection, close } = await openLakeDatabase({ lake, objects }, sql)
      const answer = await ask(connection, sql)
      await close()
      return answer
    },
    /** What the views `<table>_current` of the lake say, each row as texts. */
    current: async (): Promise<Map<string, string[]>> => {
      const { connection, close } = await openLakeDatabase({ lake, objects })
      const rows = new Map<string, string[]>()
      for (const table of tablesOfNights) {
        const answer = await connection.runAndReadAll(cellsOf(table, { from: currentName(table), asText: duckDbText }))
        rows.set(table.name, answer.getRows().map(String))
      }
      await close()
      return rows
    },
  }
}

function changed(night: number, live: Map<number, Record<string, Json>>): Json[] {
  for (let id = 0; id < 24; id++) {
    const dice = (id * 7 + night * 11 + ((id * night) % 5)) % 13
    const provisioningSteps = Array.from({ length: dice % 3 }, (_, n) => ({ id: `step ${n}`, name: `${night}` }))
    if (dice === 0) live.delete(id)
    else if (dice < 3 || night === 0) live.set(id, { id: `c${id}`, name: oddName(id + night), provisioningSteps })
  }
  return [...live.values()]
}

function people(night: number): Json[] {
  const there = (id: number) => (id + night) % 7 !== 0
  return Array.from({ length: 9 }, (_, id) => id)
    .filter(there)
    .map((id) => ({
      id: `u${id}`,
      email: `u${id}@example.com`,
      metadata: { n: Math.trunc(night / (id + 1)), a: '\0"' },
    }))
}

function oddName(at: number): string {
  return `${oddNames[at % oddNames.length]}`
}

/** A question for all cells of a table as one text a row, in an order of its own. */
export function cellsOf(table: Table, { from, asText }: { from: string; asText: (column: Column) => string }): string {
  const cells = columnsOf(table).map((column) => `coalesce(${asText(column)}, '(null)')`)
  return `select ${cells.join(" || '|' || ")} as cells from ${from} order by ${table.key.join(', ')}`
}

function duckDbText({ name, type }: Column): string {
  return type === 'timestamp' ? `epoch_ms(${name})::varchar` : `${name}::varchar`
}

/** What the table of runs says of the changes of each run, in any warehouse. */
export function changesOfRuns(schema: string): string {
  const cells = 'run_id, stream, status, received, inserted, updated, deleted, records, complete_at is null as never'
  return `select ${cells} from ${schema}._runs order by run_id, stream`
}

type Feed = { lake: LoadableLake; database: string; history?: boolean }

/** A DuckDB file that loads nights into its schema `feed`. */
export function createDuckDbFeed({ lake, database, history = false }: Feed) {
  const place = { dialect: targets.duckdb, schema: 'feed', history }
  const inDatabase = async <T>(work: (ask: (sql: string) => Promise<unknown[][]>) => Promise<T>): Promise<T> => {
    const instance = await DuckDBInstance.create(database)
    const connection = await instance.connect()
    try {
      return await work(async (sql) => (await connection.runAndReadAll(sql)).getRows())
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  }
  return {
    inDatabase,
    /** Loads what is published: of some runs, or of all. */
    load: async (runs?: readonly string[]) => {
      const readFiles = async () => {
        const files = await lake.lake.readFiles()
        return runs ? files.filter(({ runId }) => runs.includes(runId)) : files
      }
      const { signal } = new AbortController()
      const warehouse = await openDuckDb(database)
      try {
        return await runLoad(warehouse, {
          ...{ place, groups: groupsOfNights, runs: true, signal },
          lake: { ...lake, lake: { readFiles } },
        })
      } finally {
        await warehouse.close()
      }
    },
    forget: () => inDatabase((ask) => ask('delete from feed.loads')),
    forgetHistory: () => inDatabase((ask) => ask('delete from feed.history_loads')),
    current: (schema = 'feed') =>
      inDatabase(async (ask) => {
        const rows = new Map<string, string[]>()
        for (const table of tablesOfNights) {
          const sql = cellsOf(table, { from: `${schema}.${currentName(table)}`, asText: duckDbText })
          rows.set(table.name, (await ask(sql)).map(String))
        }
        return rows
      }),
  }
}

import { currentName } from '../../../lib/streams/current.ts'
import { streams } from '../../../lib/streams/index.ts'
import { columnsOf, type Table } from '../../../lib/streams/table.ts'
import { dbtPackage } from '../../../lib/warehouse/dbt/package.ts'

const files = dbtPackage(streams)

/** The SQL of a file of the package as dbt makes it, as far as it only names sources in `feed` and models in `models`. */
export function rendered(path: string): string {
  const text = files.get(path)
  if (text === undefined) throw new Error(`dbt/ has no ${path}`)
  return text
    .replaceAll(/\{\{ source\('\w+', '(\w+)'\) \}\}/g, 'feed.$1')
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}/g, 'models.$1')
}

/** Statements that make the models of tables, those that others build on first. */
export function modelStatements(tables: readonly Table[]): string[] {
  const views = tables.flatMap(({ name }) => [`current/${name}_current`, `history/${name}_history`])
  return ['create schema models', ...views.map((path) => viewOf(path)), viewOf('stream_freshness')]
}

function viewOf(path: string): string {
  return `create view models.${path.replace(/^.*\//, '')} as\n${rendered(`models/${path}.sql`)}`
}

/** Questions whose answers name what is wrong: the tests of the package, and what else must hold of its models. */
export function faultsOf(tables: readonly Table[]): string[] {
  return tables.flatMap((table) => {
    const key = table.key.join(', ')
    const columns = columnsOf(table)
      .map(({ name }) => name)
      .join(', ')
    const current = `models.${currentName(table)}`
    const stands = `select ${columns} from models.${table.name}_history where valid_to is null`
    const matches = [...table.key, '_scan_id', '_sequence'].map((name) => `a.${name} = b.${name}`).join(' and ')
    return [
      rendered(`tests/periods_of_${table.name}_history.sql`),
      table.key.length > 1
        ? rendered(`tests/keys_of_${currentName(table)}.sql`)
        : `select ${key} from ${current} group by ${key} having count(*) > 1`,
      // What stands is what is current.
      `select ${key} from ${current} as a where not exists (select 1 from (${stands}) as b where ${matches})`,
      `select ${key} from (${stands}) as a where not exists (select 1 from ${current} as b where ${matches})`,
    ]
  })
}

/** A question for versions of a main table that end before the next begins, and yet nothing says that the record was gone. */
export function gapsOf({ name, key }: Table): string {
  const matches = (left: string, right: string) =>
    key.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ')
  return [
    `select a.${key[0]} from models.${name}_history as a where a.valid_to is not null`,
    `and not exists (select 1 from models.${name}_history as b where ${matches('a', 'b')} and b.valid_from = a.valid_to)`,
    `and not exists (select 1 from feed.${name} as c where ${matches('a', 'c')} and c._op = 'delete' and c._synced_at = a.valid_to)`,
  ].join('\n')
}

import type { DuckDBConnection } from '@duckdb/node-api'
import * as z from 'zod'

const Parsed = z.object({ error: z.literal(false) })
type Names = {
  columns: Set<string>
  /** Names without that of a table before them: they may be a table's own, which means the whole row. */
  bare: Set<string>
  tables: Set<string>
  hasAll: boolean
}

/** What may mean columns that are not named: a star, a place in a row, a join by equal names, a table as a value. */
const unnamed: ReadonlySet<unknown> = new Set(['star', 'positional_reference', 'pivot', 'show_ref', 'natural'])

/**
 * The names of all columns that a question names, in lower case, of whatever table; null when it may mean others, too, or
 * when that can't be told. DuckDB's own parser says it.
 */
export async function columnsIn(connection: DuckDBConnection, sql: string): Promise<ReadonlySet<string> | null> {
  const [[text] = []] = (await connection.runAndReadAll('select json_serialize_sql($1::varchar)', [sql])).getRows()
  const tree: unknown = JSON.parse(String(text))
  if (!Parsed.safeParse(tree).success) return null
  const names: Names = { columns: new Set(), bare: new Set(), tables: new Set(), hasAll: false }
  collect(tree, names)
  return names.hasAll || [...names.bare].some((name) => names.tables.has(name)) ? null : names.columns
}

function collect(node: unknown, names: Names): void {
  if (Array.isArray(node)) for (const each of node) collect(each, names)
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return
  for (const [name, value] of Object.entries(node)) {
    if (name === 'column_names' || name === 'using_columns') {
      addTo(names.columns, value)
      if (Array.isArray(value) && value.length === 1) addTo(names.bare, value)
    } else if (name === 'table_name' || (name === 'alias' && isTable(node))) addTo(names.tables, [value])
    else if ((name === 'type' || name === 'ref_type') && unnamed.has(String(value).toLowerCase())) names.hasAll = true
    // Columns that get other names by their place.
    else if (name === 'column_name_alias' && Array.isArray(value) && value.length > 0) names.hasAll = true
    else collect(value, names)
  }
}

function isTable(node: object): boolean {
  return 'column_name_alias' in node || 'table_name' in node || 'sample' in node
}

function addTo(names: Set<string>, values: unknown): void {
  if (!Array.isArray(values)) return
  for (const value of values) if (typeof value === 'string' && value !== '') names.add(value.toLowerCase())
}

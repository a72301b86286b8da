import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { identifiedColumnsOf } from '../../lib/streams/field-ids.ts'
import { streams } from '../../lib/streams/index.ts'
import { tablesOf } from '../../lib/streams/stream.ts'
import { metaColumns, type Table } from '../../lib/streams/table.ts'

const tables = streams.flatMap(tablesOf)
const fixture = new URL('../fixtures/field-ids.txt', import.meta.url)

/** Every id that was ever given: `table.column id`, a line each; `*` stands for every table. Lines are added, and never changed. */
const given = new Map(
  readFileSync(fixture, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ') as [string, string]),
)

function nameOf(table: Table, column: string) {
  return metaColumns.some(({ name }) => name === column) ? `*.${column}` : `${table.name}.${column}`
}
function declared() {
  return tables.flatMap((table) =>
    identifiedColumnsOf(table).map(({ name, id }) => [nameOf(table, name), `${id}`] as const),
  )
}

describe('the ids of columns', () => {
  it('are those that were given: none changes, and each is on record (add what is missing to the fixture; LAKE-08)', () => {
    expect(declared().filter(([name, id]) => given.get(name) !== id)).toEqual([])
  })

  it('are given once: no column has that of another, or of one that is gone', () => {
    const users = Map.groupBy([...given], ([name, id]) => `${name.split('.')[0]} ${id}`)
    expect([...users.values()].filter(({ length }) => length > 1)).toEqual([])
    for (const table of tables) {
      const ids = identifiedColumnsOf(table).map(({ id }) => id)
      expect(new Set(ids).size, table.name).toBe(ids.length)
    }
  })

  it('stay below those of partition fields, which engines count from 1000', () => {
    expect(Math.max(...declared().map(([, id]) => Number(id)))).toBeLessThan(1000)
  })

  it('are missing for a column that nobody gave one, and that is an error', () => {
    const [table] = tables as [Table]
    const columns = [...table.columns, { name: 'unheard_of', type: 'string', doc: 'x' } as const]
    expect(() => identifiedColumnsOf({ ...table, columns })).toThrow(/unheard_of has no field id/)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import type { Json } from '../../lib/core/json.ts'
import { computers } from '../../lib/streams/computers.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { columnsOf, type Table } from '../../lib/streams/table.ts'
import { namedBy } from '../support/tables/contents.ts'
import { serveTables } from '../support/tables/table-server.ts'
import { createTablesWorld, type TablesWorld } from '../support/tables/tables-world.ts'
import { users } from '../sync/support/source.ts'

let world: TablesWorld
let reader: Awaited<ReturnType<typeof serveTables>>
beforeAll(async () => {
  reader = await serveTables(() => world.objects)
})
afterAll(() => reader.close())

/** What the platform lists on a night: most stay, some change with their steps, some go, and some of those come back. */
function computersOf(night: number, live: Map<number, Record<string, Json>>) {
  for (let id = 0; id < 24; id++) {
    const dice = (id * 7 + night * 11 + ((id * night) % 5)) % 13
    const provisioningSteps = Array.from({ length: dice % 3 }, (_, n) => ({ id: `step ${n}`, name: `${night}` }))
    if (dice === 0) live.delete(id)
    else if (dice < 3 || night === 0) live.set(id, { id: `c${id}`, name: `${night}`, provisioningSteps })
  }
  return [...live.values()]
}

describe('a current table', () => {
  it('answers what the view over the change log answers, after 30 nights of changes, deletes and returns', async () => {
    world = createTablesWorld({ address: reader.address })
    const live = new Map<number, Record<string, Json>>()
    // Files of a few rows, so that most of a table's files are left alone by a night.
    const fileSize = { bytes: 1, groupRows: 5 }
    for (let night = 0; night < 30; night++) await world.night([[computers, computersOf(night, live)]], { fileSize })
    const database = await openLakeDatabase({ lake: world.lake, objects: world.objects })
    for (const table of computers.tables as readonly Table[]) {
      const cells = columnsOf(table).map(({ name, type }) => (type === 'timestamp' ? `epoch_ms(${name})` : name))
      const answer = await database.connection.runAndReadAll(`select ${cells.join(', ')} from ${table.name}_current`)
      const rows = await reader.rows(`${table.name}_current`)
      const found = rows.map((row) => columnsOf(table).map(({ name }) => row[name]))
      expect(found.length).toBeGreaterThan(10)
      expect(found.sort(byKey)).toEqual(
        answer
          .getRows()
          .map((row) => row.map(comparable))
          .sort(byKey),
      )
    }
    const found = await world.icebergDeps().pointers.find('computers_current')
    const replaced = found?.metadata.snapshots.map(({ summary }) => Number(summary['deleted-data-files'])) ?? []
    expect(replaced.some((files) => files < 4)).toBe(true)
    await database.close()
  })
})

describe('what a reader must open', () => {
  it('is bounded: manifests are merged, and old metadata goes', async () => {
    const world = createTablesWorld()
    for (let n = 1; n <= 40; n++) await world.night([[organizationUsers, users(n % 2 ? 2 : 3)]])
    const { manifests, data } = await namedBy(world, 'organization_users')
    expect(data).toHaveLength(40)
    expect(manifests.length).toBeLessThan(33)
    const { metadata } = (await world.icebergDeps().pointers.find('organization_users'))!
    expect(metadata['metadata-log']).toHaveLength(20)
    const kept = (await world.objects.list('iceberg/organization_users/')).filter((key) =>
      key.endsWith('.metadata.json'),
    )
    expect(kept).toHaveLength(21)
  })
})

function comparable(value: unknown) {
  return typeof value === 'bigint' ? Number(value) : value
}

function byKey(a: unknown[], b: unknown[]): number {
  return `${a[0]}/${a[1]}` < `${b[0]}/${b[1]}` ? -1 : 1
}

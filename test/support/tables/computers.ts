import fc from 'fast-check'
import type { Json } from '../../../lib/core/json.ts'
import { currentSnapshot } from '../../../lib/publish/iceberg/metadata.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { identifiedColumnsOf } from '../../../lib/streams/field-ids.ts'
import { namedBy } from './contents.ts'
import type { TablesWorld } from './tables-world.ts'

/** What happens to one computer before a scan: it goes, or it has so many steps; null when nothing does. */
export type Happening = number | 'goes' | null

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 7, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.constant('goes' as const) },
)

/** The computers of a scan, by number: most stay as they are, so that most files are left alone. */
export const happenings = fc.array(happening, { minLength: 24, maxLength: 24, size: 'max' })

/** Computers by their ids, as the platform lists them. */
export type Live = Map<string, Computer>
type Computer = { id: string; name: string; provisioningSteps: { id: string; name: string }[] } & Record<string, Json>

/** Names of texts that stand in one order as UTF-16 and in another as UTF-8, and of one that begins another. */
const ids = [...Array.from({ length: 20 }, (_, n) => `c${n}`), 'c', 'c\uff5e', 'c\u{1f600}', 'é']

/** Lets things happen to computers, which bear a name from then on. */
export function change(live: Live, happens: readonly Happening[], name: string): void {
  // A list that loses much at once is suspect: of those that go, one does.
  const goes = happens.indexOf('goes')
  for (const [at, what] of happens.entries()) {
    const id = ids[at]!
    if (what === 'goes' && at === goes) live.delete(id)
    else if (typeof what === 'number') {
      const provisioningSteps = Array.from({ length: what }, (_, n) => ({ id: `step ${n}`, name }))
      live.set(id, { id, name, provisioningSteps })
    }
  }
}

/** The rows that the current tables of these computers have, by table. */
export function rowsIn(live: Live): Map<string, string[]> {
  const all = [...live.values()]
  const steps = all.flatMap(({ id, provisioningSteps }) => provisioningSteps.map(({ name }, n) => `${id} ${n} ${name}`))
  return new Map([
    ['computers', all.map(({ id, name }) => `${id} ${name}`).sort()],
    ['computer_provisioning_steps', steps.sort()],
  ])
}

const cellsOf = new Map([
  ['computers', ['id', 'name']],
  ['computer_provisioning_steps', ['computer_id', 'position', 'name']],
])

/** The rows of the current tables that there are, by table. */
export async function currentRowsOf(world: TablesWorld): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>()
  for (const table of computers.tables) {
    const name = `${table.name}_current`
    if (await world.icebergDeps().pointers.find(name)) rows.set(table.name, await rowsOf(world, name, table.name))
  }
  return rows
}

/** The rows of a table, by the name that it was declared under. */
export async function rowsOf(world: TablesWorld, name: string, declaredAs: string): Promise<string[]> {
  const table = computers.tables.find((each) => each.name === declaredAs)!
  const declared = identifiedColumnsOf(table)
  const columns = cellsOf.get(declaredAs)!.map((cell) => declared.find((column) => column.name === cell)!)
  const found: string[] = []
  const { metadata } = (await world.icebergDeps().pointers.find(name))!
  for (const key of currentSnapshot(metadata) ? (await namedBy(world, name)).data : []) {
    for await (const group of world.icebergDeps().rows.read((await world.objects.get(key))!, columns)) {
      for (const row of (group[0] ?? []).keys()) found.push(group.map((cells) => cells[row]).join(' '))
    }
  }
  return found.sort()
}

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json.ts'
import { currentSnapshot } from '../../../lib/publish/iceberg/metadata.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { identifiedColumnsOf } from '../../../lib/streams/field-ids.ts'
import { told } from '../../support/stories.ts'
import { namedBy } from '../../support/tables/contents.ts'
import { createTablesWorld, type TablesWorld } from '../../support/tables/tables-world.ts'
import { listOf } from '../../sync/support/source.ts'

/** What happens to one computer before a scan: it goes, or it has so many steps; null when nothing does. */
const happening = fc.oneof(
  { weight: 7, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.constant('goes' as const) },
)
/** The computers of a scan, by number: most stay as they are, so that most files are left alone. */
const scan = fc.array(happening, { minLength: 24, maxLength: 24, size: 'max' })
/** Scans that are published together; `anew`: the tables were lost before. Files and groups are small, so that there are many. */
const night = fc.record({
  scans: fc.array(scan, { minLength: 1, maxLength: 2 }),
  anew: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  bytes: fc.constantFrom(1, 1, 20_000),
  groupRows: fc.integer({ min: 2, max: 6 }),
})

it('hold what is there after any nights, with its parts, each row once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 3, maxLength: 7, size: 'max' }), async (nights) => {
      const world = createTablesWorld()
      const live = new Map<string, Computer>()
      // A table is made with the first change that there is for it.
      let missing = new Set(computers.tables.map(({ name }) => name))
      for (const [at, { scans, anew, ...fileSize }] of nights.entries()) {
        let run = world.newRun()
        for (const [n, happenings] of scans.entries()) {
          run = world.newRun()
          change(live, happenings, `${at}.${n}`)
          await world.sync(computers, listOf([...live.values()]), { runId: run.runId })
        }
        if (anew) await loseTables(world)
        await world.publishRun(run, { fileSize })
        const found = await rowsOf(world)
        for (const { name } of computers.tables) {
          if (found.has(name)) expect(found.get(name)).toEqual(rowsIn(live).get(name))
          else expect(anew || missing.has(name)).toBe(true)
        }
        missing = new Set(computers.tables.flatMap(({ name }) => (found.has(name) ? [] : [name])))
      }
    }),
    told(12),
  )
})

type Computer = { id: string; name: string; provisioningSteps: { id: string; name: string }[] } & Record<string, Json>

/** Names of texts that stand in one order as UTF-16 and in another as UTF-8, and of one that begins another. */
const ids = [...Array.from({ length: 20 }, (_, n) => `c${n}`), 'c', 'c\uff5e', 'c\u{1f600}', 'é']

function change(live: Map<string, Computer>, happenings: readonly (number | 'goes' | null)[], name: string): void {
  // A list that loses much at once is suspect: of those that go, one does.
  const goes = happenings.indexOf('goes')
  for (const [at, happens] of happenings.entries()) {
    const id = ids[at]!
    if (happens === 'goes' && at === goes) live.delete(id)
    else if (typeof happens === 'number') {
      const provisioningSteps = Array.from({ length: happens }, (_, n) => ({ id: `step ${n}`, name }))
      live.set(id, { id, name, provisioningSteps })
    }
  }
}

async function loseTables({ objects }: TablesWorld): Promise<void> {
  const keys = await objects.list('iceberg/')
  await objects.remove(keys.filter((key) => key.endsWith('/version-hint.text')))
}

function rowsIn(live: ReadonlyMap<string, Computer>): Map<string, string[]> {
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

async function rowsOf(world: TablesWorld): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>()
  for (const table of computers.tables) {
    const name = `${table.name}_current`
    const made = await world.icebergDeps().pointers.find(name)
    if (!made) continue
    const declared = identifiedColumnsOf(table)
    const columns = cellsOf.get(table.name)!.map((cell) => declared.find((column) => column.name === cell)!)
    const found: string[] = []
    const files = currentSnapshot(made.metadata) ? (await namedBy(world, name)).data : []
    for (const key of files) {
      for await (const group of world.icebergDeps().rows.read((await world.objects.get(key))!, columns)) {
        for (const row of (group[0] ?? []).keys()) found.push(group.map((cells) => cells[row]).join(' '))
      }
    }
    rows.set(table.name, found.sort())
  }
  return rows
}

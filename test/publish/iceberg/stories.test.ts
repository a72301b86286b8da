import fc from 'fast-check'
import { expect, it } from 'vitest'
import { computers } from '../../../lib/streams/computers.ts'
import { told } from '../../support/stories.ts'
import { change, currentRowsOf, happenings, type Live, rowsIn } from '../../support/tables/computers.ts'
import { createTablesWorld, type TablesWorld } from '../../support/tables/tables-world.ts'
import { listOf } from '../../sync/support/source.ts'

/** Scans that are published together; `anew`: the tables were lost before. Files and groups are small, so that there are many. */
const night = fc.record({
  scans: fc.array(happenings, { minLength: 1, maxLength: 2 }),
  anew: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  bytes: fc.constantFrom(1, 1, 20_000),
  groupRows: fc.integer({ min: 2, max: 6 }),
})

it('hold what is there after any nights, with its parts, each row once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 3, maxLength: 7, size: 'max' }), async (nights) => {
      const world = createTablesWorld()
      const live: Live = new Map()
      // A table is made with the first change that there is for it.
      let missing = new Set(computers.tables.map(({ name }) => name))
      for (const [at, { scans, anew, ...fileSize }] of nights.entries()) {
        let run = world.newRun()
        for (const [n, happens] of scans.entries()) {
          run = world.newRun()
          change(live, happens, `${at}.${n}`)
          await world.sync(computers, listOf([...live.values()]), { runId: run.runId })
        }
        if (anew) await loseTables(world)
        await world.publishRun(run, { fileSize })
        const found = await currentRowsOf(world)
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

async function loseTables({ objects }: TablesWorld): Promise<void> {
  const keys = await objects.list('iceberg/')
  await objects.remove(keys.filter((key) => key.endsWith('/version-hint.text')))
}

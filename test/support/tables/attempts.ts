import { expect } from 'vitest'
import type { Deadline } from '../../../lib/core/deadline.ts'
import type { IcebergDeps } from '../../../lib/publish/iceberg/ports.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { listOf } from '../../sync/support/source.ts'
import { change, currentRowsOf, type Live, rowsIn, rowsOf } from './computers.ts'
import { createTablesWorld, type TablesWorld } from './tables-world.ts'

/** Files and groups of few rows, and progress that is durable at once. */
export const smallFiles = { fileSize: { bytes: 1, groupRows: 3 }, progressMs: 0 }

/** Time that is up after so many looks at it. */
export function upAfter(looks: number): Deadline {
  let looked = 0
  return { remainingMs: () => (looked++ < looks ? Number.POSITIVE_INFINITY : 0) }
}

/** Publishes in so little time. Answers the tables that are behind, or that not all was merged. */
export async function publishIn(world: TablesWorld, looks: number, more: Partial<IcebergDeps> = smallFiles) {
  try {
    const { behind } = await world.publishRun(world.newRun(), more, { deadline: upAfter(looks) })
    return behind.map(({ table, reason }) => `${table}: ${reason}`)
  } catch (error) {
    if ((error as { code?: string }).code !== 'time_is_up') throw error
    return ['not merged']
  }
}

/** Attempts that each have so little time, until no table is behind. Answers how many there were. */
export async function attempt(
  world: TablesWorld,
  looks: (n: number) => number,
  more: Partial<IcebergDeps> = smallFiles,
): Promise<number> {
  for (let n = 1; n < 200; n++) if ((await publishIn(world, looks(n), more)).length === 0) return n
  throw new Error('no end of attempts')
}

/** A lake whose tables have many files, and a night that is published and in none of them. */
export async function behindWorld() {
  const world = createTablesWorld()
  const live: Live = new Map()
  change(
    live,
    Array.from({ length: 24 }, (_, n) => n % 4),
    'first',
  )
  await world.night([[computers, [...live.values()]]], smallFiles)
  change(
    live,
    Array.from({ length: 24 }, (_, n) => (n === 5 ? 'goes' : n % 3 === 0 ? (n + 1) % 4 : null)),
    'second',
  )
  await world.sync(computers, listOf([...live.values()]), { runId: world.newRun().runId })
  return { world, live }
}

/** Expects the tables to show what is live, and the change logs each version once, as in a world that was not disturbed. */
export async function expectUpToDate(
  { world, live }: { world: TablesWorld; live: Live },
  logs: readonly string[][],
  at: string,
) {
  expect(await currentRowsOf(world), at).toEqual(rowsIn(live))
  expect(await logsOf(world), at).toEqual(logs)
}

/** The rows of the change logs. */
export function logsOf(world: TablesWorld): Promise<string[][]> {
  return Promise.all(computers.tables.map(({ name }) => rowsOf(world, name, name)))
}

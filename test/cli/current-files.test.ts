import { beforeAll, describe, expect, it } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import type { PublishedLake } from '../../lib/cli/lake-files.ts'
import type { Json } from '../../lib/core/json.ts'
import { currentFiles } from '../../lib/publish/iceberg/current-files.ts'
import { computers } from '../../lib/streams/computers.ts'
import { createTablesWorld, type TablesWorld } from '../support/tables/tables-world.ts'
import { listOf } from '../sync/support/source.ts'

const questions = [
  'select id, name from computers_current order by id',
  'select computer_id, step_id, status from computer_provisioning_steps_current order by all',
  'select count(*)::int as n, (select count(*)::int from computers) as versions from computers_current',
]

function computer(n: number, night: number): Json {
  const provisioningSteps = [{ id: `step-${night}`, name: 'boot', status: night % 2 ? 'done' : 'open' }]
  return { id: `c${n}`, name: `computer ${n} in night ${night}`, provisioningSteps }
}

function listed(night: number): Json[] {
  return Array.from({ length: 12 - night }, (_, n) => computer(n, n % 3 === 0 ? night : 0))
}

/** The lake as `query` opens it, with the keys of what it read. */
function lakeOf(world: TablesWorld): { from: PublishedLake; read: string[] } {
  const read: string[] = []
  const objects = {
    get: (key: string) => {
      read.push(key)
      return world.objects.get(key)
    },
    getRange: (key: string, from: number, to: number) => {
      read.push(key)
      return world.objects.getRange(key, from, to)
    },
    list: (prefix: string) => world.objects.list(prefix),
  }
  const from = {
    lake: world.lake,
    objects,
    currentFiles: (of: Parameters<typeof currentFiles>[0]) => currentFiles(of, world.icebergDeps()),
  }
  return { from, read }
}

async function answer(from: PublishedLake, sql: string): Promise<Json[][]> {
  const database = await openLakeDatabase(from, sql)
  try {
    return (await database.connection.runAndReadAll(sql)).getRowsJson() as Json[][]
  } finally {
    await database.close()
  }
}

describe('a question about a current state', () => {
  let world: TablesWorld
  beforeAll(async () => {
    world = createTablesWorld()
    for (let night = 0; night < 4; night++) await world.night([[computers, listed(night)]])
  })

  it('is answered from its files alone, as from all that was published', async () => {
    const { from, read } = lakeOf(world)
    for (const sql of questions.slice(0, 2)) {
      const { currentFiles: _, ...fromHistory } = from
      const wanted = await answer(fromHistory, sql)
      expect(wanted.length).toBeGreaterThan(5)
      read.length = 0
      expect(await answer(from, sql)).toEqual(wanted)
      expect(read.filter((key) => key.startsWith('changes/'))).toEqual([])
      expect(new Set(read).size).toBe(1)
    }
  })

  it('is answered from what was published where the history is asked for, too', async () => {
    const { from, read } = lakeOf(world)
    const [[n, versions] = []] = await answer(from, questions[2] as string)
    expect(n).toBe(9)
    expect(versions).toBeGreaterThan(12)
    expect(read.filter((key) => !key.startsWith('changes/'))).toEqual([])
  })

  it('is answered from what was published where the tables lag behind it', async () => {
    const run = world.newRun()
    await world.sync(computers, listOf(listed(4)), { runId: run.runId })
    const objects = { ...world.objects, put: refusingTables(world.objects.put) }
    expect((await world.publishRun(run, { files: objects })).behind.map(({ reason }) => reason)).toContain('killed')
    const { from, read } = lakeOf(world)
    expect(await answer(from, questions[0] as string)).toHaveLength(8)
    expect(read.filter((key) => !key.startsWith('changes/'))).toEqual([])
  })
})

function refusingTables(put: TablesWorld['objects']['put']): TablesWorld['objects']['put'] {
  return async (key, ...rest) => {
    if (key.startsWith('iceberg/')) throw new Error('killed')
    await put(key, ...rest)
  }
}

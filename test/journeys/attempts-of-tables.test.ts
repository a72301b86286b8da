import { beforeAll, describe, expect, it } from 'vitest'
import { computers } from '../../lib/streams/computers.ts'
import { behindWorld, expectUpToDate, logsOf, publishIn, smallFiles, upAfter } from '../support/tables/attempts.ts'
import { change } from '../support/tables/computers.ts'
import { dying, type Fate, fateful } from '../support/tables/contents.ts'
import type { TablesWorld } from '../support/tables/tables-world.ts'
import { listOf } from '../sync/support/source.ts'

const leaseMs = 60_000
let logs: string[][]
beforeAll(async () => {
  const { world } = await behindWorld()
  await world.publishRun(world.newRun(), smallFiles)
  logs = await logsOf(world)
})

/** A world in which an attempt had the time for half of the tables' files. */
async function halfWay() {
  const made = await behindWorld()
  expect(await publishIn(made.world, 21)).not.toEqual([])
  const begun = (await made.world.objects.list('iceberg/')).filter((key) => key.endsWith('-progress.json'))
  expect(begun.length).toBeGreaterThan(0)
  return made
}

/** An attempt whose writes meet a fate, with time for some more files or for all. */
function attemptOf(world: TablesWorld, { objects, publications }: ReturnType<typeof fateful>, looks: number) {
  const { pointers } = world.icebergDepsOver(objects)
  const more = { ...smallFiles, files: objects, pointers }
  return world.publishRun(world.newRun(), more, { publications, deadline: upAfter(looks) })
}

/** How an attempt ended: with what is thrown, or the number of tables that are behind. */
function endOf(attempt: ReturnType<typeof attemptOf>): Promise<number | (Error & { code?: string })> {
  return attempt.then(
    ({ behind }) => behind.length,
    (error: Error) => error,
  )
}

function codeOf(end: Awaited<ReturnType<typeof endOf>>): unknown {
  return typeof end === 'number' ? end : end.code
}

async function recover(world: TablesWorld): Promise<void> {
  world.clock.advance(leaseMs)
  expect(await publishIn(world, Number.POSITIVE_INFINITY)).toEqual([])
}

describe('a table whose update takes longer than an attempt', () => {
  it('is as if it had not, wherever the time was up, and lists each version once', async () => {
    let cut = 0
    for (let looks = 0; ; looks++, cut++) {
      const { world, live } = await behindWorld()
      const behind = await publishIn(world, looks)
      if (behind.length === 0) break
      for (const each of behind) expect(each).toMatch(/null$|not merged/)
      await recover(world)
      await expectUpToDate({ world, live }, logs, `${looks}`)
    }
    expect(cut).toBeGreaterThan(30)
  })
})

describe('an attempt that goes on with the tables of an earlier one', () => {
  it.each([
    ['before', 20],
    ['after', 20],
    ['before', Number.POSITIVE_INFINITY],
    ['after', Number.POSITIVE_INFINITY],
  ] as const)('may die %s any write, with time for %d steps', async (when, looks) => {
    let deaths = 0
    for (let n = 1; ; n++, deaths++) {
      const { world, live } = await halfWay()
      const end = await endOf(attemptOf(world, dying(world, n, when), looks))
      if (!(end instanceof Error)) break
      await recover(world)
      await expectUpToDate({ world, live }, logs, `${when} ${n}`)
    }
    expect(deaths).toBeGreaterThan(10)
  })

  it.each(['before', 'after'] as const)('may lose any one answer, %s the write was done', async (when) => {
    for (let n = 1, isOver = false; !isOver; n++) {
      const { world, live } = await halfWay()
      const fates = fateful(world, (call) => (call === n ? `fail ${when}` : 'pass'))
      await endOf(attemptOf(world, fates, Number.POSITIVE_INFINITY))
      isOver = fates.calls() < n
      await recover(world)
      await expectUpToDate({ world, live }, logs, `${when} ${n}`)
    }
  })

  it('changes nothing when it stalls at any write and wakes after others have done its work, and that of a further night', async () => {
    let stalls = 0
    for (let n = 1; ; n++, stalls++) {
      const { world, live } = await halfWay()
      const { fateOf, stalled, wake } = stallingAt(n)
      const end = endOf(attemptOf(world, fateful(world, fateOf), Number.POSITIVE_INFINITY))
      if ((await Promise.race([stalled, end])) !== 'stalled') break
      await recover(world)
      change(
        live,
        Array.from({ length: 24 }, (_, at) => (at % 5 === 0 ? at % 4 : null)),
        'third',
      )
      await world.night([[computers, [...live.values()]]], smallFiles)
      const after = await logsOf(world)
      wake()
      // At its last write there was nothing left to do.
      expect([0, 'lease_lost'], `${n}`).toContain(codeOf(await end))
      await expectUpToDate({ world, live }, after, `${n}`)
      // Nor does it stand in the way of what comes.
      change(live, [1, 2, 3], 'fourth')
      await world.sync(computers, listOf([...live.values()]), { runId: world.newRun().runId })
      await recover(world)
      await expectUpToDate({ world, live }, await logsOf(world), `${n}, and after it`)
    }
    expect(stalls).toBeGreaterThan(10)
  })
})

function stallingAt(n: number) {
  const [gate, stall] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  const fateOf: Fate = (call) => {
    if (call !== n) return 'pass'
    stall.resolve('stalled')
    return gate.promise
  }
  return { fateOf, stalled: stall.promise, wake: () => gate.resolve() }
}

import type { Difference } from './crash.ts'
import { recover } from './crash.ts'
import { differences } from './differences.ts'
import type { Call } from './outside.ts'
import type { End } from './process.ts'
import { expectDone, type Stage, type Worlds } from './world.ts'

const callsBeforeLease = 3

/**
 * A worker stalls at its n-th call and past its lease; another one takes over and is done with the stage, and with the
 * next one if there is one. Then the first goes on until it stops by itself.
 */
export async function outlive(worlds: Worlds, stage: Stage, { n, name }: Call): Promise<Difference> {
  const at = `stall at ${n} of ${stage.run.runId} (${name})`
  try {
    await worlds.enter(stage)
    const stalled = worlds.start(stage, { fateOf: (call) => (call.n === n ? 'stall' : 'pass') })
    await Promise.race([stalled.outside.stalled, stalled.end])
    await recover(worlds, stage)
    // To one that stalled before it took the lease the stage after would be news: it wakes before that.
    const isEarly = n <= stage.callsBefore + callsBeforeLease
    const next = worlds.stages[worlds.stages.indexOf(stage) + 1]
    const goOn = async () => {
      if (!next) return
      await worlds.time().advance(next.run.scheduledAt - worlds.time().now())
      expectDone(await worlds.start(next).end)
    }
    if (!isEarly) await goOn()
    const before = differences(await worlds.view(), (isEarly ? stage : (next ?? stage)).after)
    stalled.outside.resume()
    const wrongEnd = wrongIn(await stalled.end)
    if (isEarly) await goOn()
    const found = differences(await worlds.view(), (next ?? stage).after)
    if (before.length + found.length + wrongEnd.length === 0) return null
    return { at, found: [...wrongEnd, ...(before.length > 0 ? ['already before the release:', ...before] : found)] }
  } catch (error) {
    return { at, found: [String((error as Error).stack)] }
  }
}

/** A stalled worker ends as one that lost its lease, or finds that all is done. */
function wrongIn(end: End): string[] {
  if (end.how === 'died') return ['it died']
  const wrong = end.results.filter(({ status }) => status !== 'running' && status !== 'complete')
  const failed = 'failed' in end.run ? (end.run.failed as { code?: string }) : null
  return [
    ...wrong.map(({ status, reason }) => `it ended as ${status}: ${reason}`),
    ...(failed && failed.code !== 'lease_lost' ? [`it could not publish: ${failed}`] : []),
  ]
}

/** Lets a worker stall at each of these calls of a stage in turn: all the differences it makes. */
export async function outliveEach(worlds: Worlds, stage: Stage, calls: readonly Call[]): Promise<Difference[]> {
  const found: Difference[] = []
  for (const call of calls) found.push(await outlive(worlds, stage, call))
  return found.filter((difference) => difference !== null)
}

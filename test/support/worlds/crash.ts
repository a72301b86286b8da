import { differences } from './differences.ts'
import type { Call, Fate } from './outside.ts'
import { expectDone, isDone, leaseMs, type Stage, type Worlds } from './world.ts'

/** How a world differs from the undisturbed one after its process met a fate at a call; null when it does not. */
export type Difference = { at: string; found: string[] } | null

const tries = 5

/** Starts processes, one after another and each when the leases have run out, until one does all of the work. */
export async function recover(worlds: Worlds, stage: Stage): Promise<void> {
  for (let n = 0; n < tries; n++) {
    await worlds.time().advance(leaseMs)
    if (isDone(await worlds.start(stage).end)) return
  }
  throw new Error(`not done after ${tries} more processes`)
}

/** Lives through a stage in which the n-th call has a fate, `onward` through the next one, too, and compares. */
export async function liveThrough(
  worlds: Worlds,
  stage: Stage,
  { call: { n, name }, fate, onward = false }: { call: Call; fate: Fate; onward?: boolean },
): Promise<Difference> {
  const at = `${fate} at ${n} of ${stage.run.runId} (${name})`
  try {
    await worlds.enter(stage)
    const process = worlds.start(stage, { fateOf: (call) => (call.n === n ? fate : 'pass') })
    const end = await process.end
    if (fate.startsWith('die') && end.how !== 'died') return { at, found: ['the process did not die'] }
    if (!isDone(end)) await recover(worlds, stage)
    const found = differences(await worlds.view(), stage.after)
    const next = onward ? worlds.stages[worlds.stages.indexOf(stage) + 1] : undefined
    if (found.length > 0 || !next) return found.length > 0 ? { at, found } : null
    await worlds.time().advance(next.run.scheduledAt - worlds.time().now())
    expectDone(await worlds.start(next).end)
    const later = differences(await worlds.view(), next.after)
    return later.length > 0 ? { at: `${at}, after the next run`, found: later } : null
  } catch (error) {
    return { at, found: [String((error as Error).stack)] }
  }
}

/** The fate at each call of a stage in turn: all the differences it makes. */
export async function atEachCall(
  worlds: Worlds,
  stage: Stage,
  { fate, onward = false, only = () => true }: { fate: Fate; onward?: boolean; only?: (call: Call) => boolean },
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const call of stage.calls.filter(only))
    differences.push(await liveThrough(worlds, stage, { call, fate, onward }))
  return differences.filter((difference) => difference !== null)
}

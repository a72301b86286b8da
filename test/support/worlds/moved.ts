import type { Stream } from '../../../lib/streams/stream.ts'
import type { Run } from '../../../lib/sync/context.ts'
import { incoherences, unlike } from './coherence.ts'
import type { Difference } from './crash.ts'
import { differences } from './differences.ts'
import type { Call, Fate } from './outside.ts'
import { dayMs, isDone, leaseMs, type Stage, type Worlds } from './world.ts'

/** What to do to a first worker at a call of a first run, and who comes next, when the platform has moved on. */
export type Plan = { call: Call; fate: 'die after' | 'stall'; streams: readonly Stream[] }

/**
 * A worker of the first run dies or stalls; the platform changes; and the next worker, of the same run or of the next
 * one, finishes the job. One that stalled then goes on. What is stored must hang together, and at last be as the
 * platform is.
 */
export async function moveOn(
  worlds: Worlds,
  [first, second]: readonly [Stage, Stage],
  plan: Plan,
): Promise<Difference> {
  const { call, fate, streams } = plan
  const found: string[] = []
  const look = async () => {
    const view = await worlds.view()
    found.push(...incoherences(view, streams))
    return view
  }
  const finish = async (run: Run) => {
    const end = await worlds.start({ run, platform: 'after' }).end
    if (!isDone(end)) found.push(`${run.runId} was not done: ${JSON.stringify(end)}`)
  }
  await worlds.enter(first)
  const worker = worlds.start(first, { fateOf: ({ n }): Fate => (n === call.n ? fate : 'pass') })
  await Promise.race([worker.outside.stalled, worker.end])
  await worlds.time().advance(leaseMs)
  await finish(fate === 'stall' ? first.run : second.run)
  const before = await look()
  if (fate === 'stall') {
    worker.outside.resume()
    await worker.end
    found.push(...differences(await look(), before, 'what it did when it woke'))
  }
  await worlds.time().advance(dayMs)
  // Whoever came next went on with what the first one had begun; a whole scan sees the platform as it is.
  await finish({ runId: 'r3', scheduledAt: second.run.scheduledAt + dayMs })
  found.push(...unlike(await look(), second.after, streams))
  return found.length > 0 ? { at: `${fate} at ${call.n} (${call.name})`, found } : null
}

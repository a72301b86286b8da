import type { Stream } from '../../../lib/streams/stream.ts'
import type { Run } from '../../../lib/sync/context.ts'
import { createConnections } from './connections.ts'
import { createObserver, type View } from './observe.ts'
import type { Call, Fate } from './outside.ts'
import { startPlatforms } from './platforms.ts'
import { type Beforehand, type End, type Process, startProcess } from './process.ts'
import { type Contents, nothing, startStorage } from './storage.ts'
import { createTime, type Time } from './time.ts'

/** Between two runs. */
export const dayMs = 24 * 3_600_000
const start = Date.UTC(2026, 10, 2)
const runs: readonly [Run, Run] = [
  { runId: 'r1', scheduledAt: start },
  { runId: 'r2', scheduledAt: start + dayMs },
]

/** Long enough for every lease to run out. */
export const leaseMs = 200_000

/** A stage of a world's history: what was stored when it began, and what anyone can tell when it is over. */
export type Stage = {
  run: Run
  before: Contents
  calls: readonly Call[]
  /** How many of the calls were made before the first stream was read. */
  callsBefore: number
  after: View
}

/** What happens before each run, where a story has more to it than the platform. */
export type Story = {
  /** A world begins anew at the run. */
  begin(run: Run): void
  beforehand: Beforehand
  /** What of a view must be alike however the story went. */
  alike(view: View): View
}

/** Worlds over some streams: the undisturbed one, and as many disturbed ones as wanted, one at a time. */
export type Worlds = {
  /** The first run over the platform as it was, and the second over what became of it. */
  stages: readonly [Stage, Stage]
  /** Puts the world at the beginning of a stage. */
  enter(stage: Stage): Promise<void>
  /** Starts a process at the stage; from then on the platform is as the stage finds it. */
  start(stage: { run: Run; platform?: 'before' | 'after' }, options?: { fateOf?: (call: Call) => Fate }): Process
  time(): Time
  view(): Promise<View>
  close(): Promise<void>
}

/** Builds the undisturbed world, and what is needed for others. */
export async function createWorlds(streams: readonly Stream[], story?: Story): Promise<Worlds> {
  const [storage, platforms, observer] = [await startStorage(), await startPlatforms(), await createObserver()]
  const connections = createConnections(storage.clients)
  let time = createTime(start)
  let platform: 'before' | 'after' = 'before'
  const startAt: Worlds['start'] = (stage, { fateOf } = {}) => {
    platform = stage.platform ?? (stage.run === runs[0] ? 'before' : 'after')
    return startProcess(stage.run, streams, {
      storage,
      connections,
      platformUrl: () => platforms[platform].url,
      time,
      beforehand: story?.beforehand,
      ...(fateOf ? { fateOf } : {}),
    })
  }
  const enter = async ({ run, before }: Pick<Stage, 'run' | 'before'>) => {
    time = createTime(run.scheduledAt)
    story?.begin(run)
    await storage.reset(before)
  }
  const view = async () => {
    const seen = await observer.view({ contents: await storage.read(), now: time.now() }, streams)
    return story?.alike(seen) ?? seen
  }
  const undisturbed = async (run: Run, before: Contents): Promise<Stage> => {
    await enter({ run, before })
    const process = startAt({ run })
    const { callsBefore } = expectDone(await process.end)
    return { run, before, calls: process.outside.calls, callsBefore, after: await view() }
  }
  const first = await undisturbed(runs[0], nothing)
  const second = await undisturbed(runs[1], await storage.read())
  return {
    stages: [first, second],
    enter,
    start: startAt,
    time: () => time,
    view,
    close: async () => {
      connections.close()
      observer.close()
      await platforms.close()
      await storage.close()
    },
  }
}

/** The end of a process whose streams were completed and published. Throws when they were not. */
export function expectDone(end: End): Extract<End, { how: 'done' }> {
  if (end.how === 'died') throw new Error('the process died')
  const incomplete = end.results.filter(({ status }) => status !== 'complete')
  if (incomplete.length > 0) throw new Error(`not complete: ${JSON.stringify(incomplete)}`)
  if ('failed' in end.run) throw end.run.failed
  if (end.run.record.behind) throw new Error(`behind: ${JSON.stringify(end.run.record.behind)}`)
  return end
}

/** Whether a process did all of its work. */
export function isDone(end: End): boolean {
  if (end.how !== 'done' || 'failed' in end.run || end.run.record.behind) return false
  return end.results.every(({ status }) => status === 'complete')
}

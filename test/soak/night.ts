import type { FaultRule } from '../../lib/local/simulator/faults/rule.ts'
import { streamsAsRead } from '../../lib/streams/index.ts'
import { runOf } from '../../lib/sync/scheduled-run.ts'
import { type RunEnd, readAndPublish } from './jobs.ts'
import type { Fault, Job } from './plan.ts'
import { type Living, runJob } from './striking.ts'

/** All streams, as a night reads them. */
export const units = streamsAsRead({ messages: true }).map(({ name }) => name)
export const unitsWithoutMessages = streamsAsRead({ messages: false }).map(({ name }) => name)

/** What a run of streams came to, in words: why it did not read all of them to their ends, or publish them. */
export type Ran = { broken: string[]; calls: number }

/** Does a run of a schedule. */
export async function runStreams(
  { schedule, streams, job }: { schedule: string; streams: readonly string[]; job: Job },
  living: Living,
): Promise<Ran> {
  const { world, plan } = living
  const run = runOf({ schedule, scheduledAt: new Date(world.time.now()).toISOString() })
  const short = job === 'night' ? plan.faults.find(({ kind }) => kind === 'little time') : undefined
  const attemptMs = short && 'seconds' in short ? short.seconds * 1_000 : null
  const rules = job === 'night' ? plan.faults.flatMap(rulesOf) : []
  for (const rule of rules) world.simulator.fault(rule)
  const end = await runJob(
    job,
    (composing) => readAndPublish({ run, streams, attemptMs, wait: world.time.advance }, composing),
    living,
  )
  world.simulator.clearFaults()
  return { broken: whyBroken(end), calls: world.calls.get(job) ?? 0 }
}

function whyBroken({ results, failed }: RunEnd): string[] {
  const incomplete = results.filter(({ status }) => status !== 'complete')
  const reasons = incomplete.map(({ stream, status, reason }) => `${stream} is ${status}: ${reason}`)
  return failed ? [...reasons, `not published: ${String(failed)}`] : reasons
}

/** The faults of the platform that a planned one means. */
function rulesOf(fault: Fault): FaultRule[] {
  switch (fault.kind) {
    case 'throttled': {
      const { endpoint, times, seconds } = fault
      return [{ kind: 'status', status: 429, headers: { 'retry-after': String(seconds) }, endpoint, times }]
    }
    case 'server errors':
      return [{ kind: 'status', status: 500, endpoint: fault.endpoint, times: fault.times }]
    case 'page token expires':
      return [{ kind: 'expireCursor', endpoint: fault.endpoint, times: 1 }]
    case 'broken night':
      return [{ kind: 'status', status: 503, endpoint: '*' }]
    default:
      return []
  }
}

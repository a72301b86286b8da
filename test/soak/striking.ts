import type { Fate } from '../support/worlds/outside.ts'
import { names } from './installation.ts'
import type { Fault, Job, Plan } from './plan.ts'
import { type Composing, type Fates, startWorker } from './worker.ts'
import type { World } from './world.ts'

/** A day as its jobs see it: what is planned, and what of it came about. `spent`: strikes that came about, each at most once. */
export type Living = { world: World; plan: Plan; struck: string[]; spent: Set<Fault> }

/** Longer than any lease of a worker. */
export const afterLeasesMs = 200_000

const fateNames: Partial<Record<Fault['kind'], Fate>> = {
  'reply lost': 'lose answer',
  'killed before a call': 'die before',
  'killed after a call': 'die after',
  'stalled past the lease': 'stall',
}

/** Calls that a job is taken to have before it ran once. */
const callsAtFirst = 20

/**
 * The fates that a plan has for a job: at most one call of it is struck in a day. A worker that dies on each delivery would
 * bring its messages to the dead-letter queue, where they are to wait for somebody.
 */
function fatesOf(job: Job, { world, plan, struck, spent }: Living): Fates {
  const usual = world.calls.get(job) ?? callsAtFirst
  const numberOf = (share: number) => 1 + Math.floor(share * usual)
  const strike = plan.faults.find((fault) => 'job' in fault && fault.job === job) as
    | (Fault & { at: number })
    | undefined
  const fate = strike && fateNames[strike.kind]
  const publish = job === 'night' ? plan.faults.find((fault) => fault.kind === 'publish fails') : undefined
  const rotation = job === 'night' ? plan.faults.find((fault) => 'at' in fault && !('job' in fault)) : undefined
  return {
    fateOf: ({ n, name }) => {
      if (!strike || !fate || spent.has(strike) || n !== numberOf(strike.at)) return 'pass'
      spent.add(strike)
      struck.push(`${strike.kind}: ${job}, call ${n} (${name})`)
      return fate
    },
    refuses: publish && ((name) => name.startsWith('PUT ') && name.includes(`/${publish.place}`)),
    onCall: (n) => {
      if (!rotation || !('at' in rotation) || n !== numberOf(rotation.at)) return
      rotatePlatformKey(world)
      struck.push(`${rotation.kind}: call ${n}`)
    },
  }
}

/** The platform takes another key from now on, and the secret has it. */
export function rotatePlatformKey({ door, keys, services }: World): void {
  door.key = `QzPlatformKey${keys.length}Zq`
  keys.push(door.key)
  services.secrets.set(names.apiKey, JSON.stringify({ apiKey: door.key }))
}

const tries = 6

/**
 * Does a job as its plan lets it: once, or, where its worker was killed or failed, again when the leases have run out, as
 * schedules and queues do. A worker that stalls goes on after another one has done its work.
 */
export async function runJob<T>(job: Job, work: (composing: Composing) => Promise<T>, living: Living): Promise<T> {
  const { world, struck } = living
  let fates: Fates = fatesOf(job, living)
  let last: unknown
  for (let n = 0; n < tries; n++) {
    const { outside, end } = startWorker(world, work, fates)
    const ended = end.catch((error: unknown) => ({ error }))
    const first = await Promise.race([ended, outside.stalled])
    fates = {}
    if (first === undefined) {
      await world.time.advance(afterLeasesMs)
      const result = await runJob(job, work, { ...living, plan: { ...living.plan, faults: [] } })
      outside.resume()
      await ended
      return result
    }
    if ('result' in first) {
      world.calls.set(job, outside.calls.length)
      return first.result
    }
    last = 'error' in first ? first.error : 'killed'
    if ('error' in first) struck.push(`${job} failed: ${String(first.error)}`)
    await world.time.advance(afterLeasesMs)
  }
  throw new Error(`${job} was not done after ${tries} tries: ${String((last as Error).stack ?? last)}`)
}

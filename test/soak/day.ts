import { pollOnce } from '../../lib/local/poller.ts'
import { hookVisibilitySeconds } from '../../lib/stores/hook-queue.ts'
import { messagesOn, visibilitySeconds } from '../../lib/stores/limits-queue.ts'
import { applyRecords, importDropped, keepPolicy, storeRecords, writeDigest } from './jobs.ts'
import { drawsOfDay, limitsFile, liveOn, rotateKeys, wrongFile } from './life.ts'
import { runStreams, units, unitsWithoutMessages } from './night.ts'
import type { Plan } from './plan.ts'
import { type Living, runJob } from './striking.ts'
import type { World } from './world.ts'

/** What a day came to. */
export type Day = {
  plan: Plan
  /** Why the night did not read all streams to their ends and publish them; empty where it did. */
  broken: string[]
  /** What struck, as it struck. */
  struck: string[]
  /** Calls of the night, and those of a second one right after it, where one was made: nothing has changed between them. */
  calls: { night: number; idle: number | null }
  policy: string
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Lives through a day of the world: what people do, all schedules, and what goes wrong. The night ends it. */
export async function liveThroughDay(
  world: World,
  plan: Plan,
  { seed, start }: { seed: number; start: number },
): Promise<Day> {
  const draws = drawsOfDay(seed, plan.night)
  const at = (hours: number) => world.time.reach(start + (plan.night - 1) * dayMs + hours * hourMs)
  const living: Living = { world, plan, struck: [], spent: new Set() }
  await at(4)
  rotateKeys(world, plan)
  await runJob('digest', writeDigest, living)
  await at(9)
  await liveOn(world, plan, draws)
  await settings(living)
  for (const people of plan.files) await dropFile(living, await limitsFile(world, people, draws))
  for (const fault of plan.faults) if (fault.kind === 'wrong file') await dropFile(living, wrongFile(fault))
  await at(14)
  for (const count of plan.deliveries) await world.sendEvents(count)
  await drain('hooks', living)
  await settings(living)
  await at(26)
  const night = { streams: plan.messages ? units : unitsWithoutMessages, job: 'night' } as const
  const { broken, calls } = await runStreams({ schedule: 'nightly', ...night }, living)
  const policy = await runJob('policy', keepPolicy, living)
  await drain('apply', living)
  const day: Day = { plan, broken, struck: living.struck, calls: { night: calls, idle: null }, policy }
  if (!plan.idle) return day
  await world.time.advance(hourMs)
  await runStreams({ schedule: 'idle', ...night }, living)
  await world.time.advance(hourMs / 2)
  const idle = await runStreams({ schedule: 'idle', ...night }, living)
  return { ...day, calls: { night: calls, idle: idle.calls } }
}

async function settings(living: Living): Promise<void> {
  await runStreams({ schedule: 'settings', streams: ['enterprise_control_revisions'], job: 'settings' }, living)
}

async function dropFile(living: Living, text: string | Uint8Array): Promise<void> {
  const file = await living.world.dropFile(text)
  await runJob('import', (composing) => importDropped(file, composing), living)
  await drain('apply', living)
}

const queues = {
  apply: { variable: 'LIMITS_QUEUE_URL', hiddenMs: visibilitySeconds * 1_000, work: applyRecords },
  hooks: { variable: 'HOOKS_QUEUE_URL', hiddenMs: hookVisibilitySeconds * 1_000, work: storeRecords },
} as const

const rounds = 20

/** Plays the event source mapping until the queue is empty. What a worker did not finish comes again when it is visible. */
async function drain(job: keyof typeof queues, living: Living): Promise<void> {
  const { world, plan, struck } = living
  const { variable, hiddenMs, work } = queues[job]
  const queueUrl = world.variables[variable]!
  let twice = plan.faults.some(({ kind }) => kind === 'message comes twice')
  for (let round = 0; round < rounds; round++) {
    const { received, failed } = await pollOnce({
      ...{ sqs: world.sqs, queueUrl, log: world.log, waitSeconds: 0 },
      handle: async (records) => {
        const response = await runJob(job, (composing) => work(records, composing), living)
        if (!twice) return response
        twice = false
        struck.push(`message comes twice: ${job}`)
        throw new Error('the function was done, and nobody heard of it')
      },
    })
    if (received > 0 && failed === 0) continue
    if ((await messagesOn(world.sqs, queueUrl)) === 0) return
    await world.time.advance(hiddenMs + 1_000)
  }
  throw new Error(`the queue of ${job} was not empty after ${rounds} rounds`)
}

import type { Figure } from './figures.ts'
import { costPerMillion } from './prices.ts'
import { inWorld } from './sync-parts.ts'
import type { WorkerAnswer } from './worker.ts'

/** (a) What the engine adds to the time that the platform itself takes. */
export function latencyRatio(): Promise<Figure[]> {
  return inWorld({ sessions: 100_000, latencyMs: 20 }, async ({ sync, bareLoop }) => {
    const bare = await bareLoop()
    const { seconds } = await sync()
    const measure = `sync of ${bare.records} sessions at 20 ms against a bare loop of ${bare.seconds.toFixed(1)} s`
    return [{ part: 'a', measure, value: seconds / bare.seconds, unit: 'ratio', aim: { most: 1.05 } }]
  })
}

/** (b) Records per second of the worker's CPU, (c) its peak memory, (d) its calls to AWS, at one size. */
export function atSize(sessions: number) {
  return (): Promise<Figure[]> =>
    inWorld({ sessions, latencyMs: 0 }, async ({ sync }) => {
      const first = await sync()
      const unchanged = await sync()
      return [
        ...figuresOf(`first sync of ${sessions}`, first, 20_000),
        ...figuresOf(`unchanged sync of ${sessions}`, unchanged, 40_000),
        ...callsOf(`unchanged sync of ${sessions}`, unchanged),
      ]
    })
}

function figuresOf(what: string, { counts, cpuSeconds, peakMegabytes }: WorkerAnswer, least: number): Figure[] {
  const unit = 'records per s of CPU'
  return [
    { part: 'b', measure: what, value: counts.received / cpuSeconds, unit, aim: { least } },
    { part: 'c', measure: `peak memory, ${what}`, value: peakMegabytes, unit: 'MB', aim: { most: 400 } },
  ]
}

function callsOf(what: string, { calls, counts }: WorkerAnswer): Figure[] {
  const total = (part: string) =>
    Object.entries(calls).reduce((sum, [name, count]) => (name.startsWith(part) ? sum + count : sum), 0)
  const cost = costPerMillion(calls, counts.received)
  const ofRecords = total('DynamoDB Batch') + total('DynamoDB Scan')
  const unit = 'calls'
  return [
    { part: 'd', measure: `calls to the records table, ${what}`, value: ofRecords, unit, aim: { most: 0 } },
    { part: 'd', measure: `S3, ${what}`, value: total('S3'), unit, aim: { most: 250 } },
    { part: 'd', measure: `DynamoDB, ${what}`, value: total('DynamoDB'), unit, aim: { most: 250 } },
    { part: 'd', measure: `cost per million records, ${what}`, value: cost, unit: 'USD', aim: null },
  ]
}

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mostAbove, type Seen, type WorkerPlan, watchWorkers } from './workers.ts'

const latencyMs = 20
const second = 1_000
const endsAt = 30 * second

function workers(aheadMs: fc.Arbitrary<number>): fc.Arbitrary<WorkerPlan[]> {
  const worker = fc.record({
    aheadMs,
    concurrency: fc.integer({ min: 1, max: 4 }),
    requestMs: fc.integer({ min: 5, max: 600 }),
    from: fc.constantFrom(0, 0, 300, 5 * second),
    // Many die while they hold a slice.
    until: fc.oneof(fc.constant(endsAt), fc.integer({ min: second, max: endsAt })),
  })
  return fc.array(worker, { minLength: 1, maxLength: 5 })
}

function plans(aheadMs: fc.Arbitrary<number>) {
  const wait = fc.record({
    after: fc.integer({ min: 0, max: endsAt }),
    ms: fc.integer({ min: 200, max: 8 * second }),
  })
  return fc.record({
    workers: workers(aheadMs),
    waits: fc.array(wait, { maxLength: 4 }),
    rate: fc.constantFrom(0.5, 2, 7, 20, 50),
    latencyMs: fc.constant(latencyMs),
    endsAt: fc.constant(endsAt),
  })
}

/** What a worker may draw at once. */
function sliceOf(rate: number) {
  return Math.max(1, rate)
}

/** By how much a request came too early for a wait that some worker had been told for as long as others take to look. */
function earliestMs({ sent, told }: Seen): number {
  const early = told.flatMap(({ at, ends, worker }) =>
    sent
      .filter(
        (request) => request.at < ends && request.at > at + (request.worker === worker ? 0 : 2 * second + latencyMs),
      )
      .map((request) => ends - request.at),
  )
  return Math.max(0, ...early)
}

function momentsOf(events: readonly { at: number }[]): number[] {
  return events.map(({ at }) => at)
}

describe('workers that share a budget, whatever they ask, are told, and when they die', () => {
  it('send no more in any window than its rate and two slices, none during a wait, and call once a second', async () => {
    await fc.assert(
      fc.asyncProperty(plans(fc.constant(0)), async (plan) => {
        const seen = await watchWorkers(plan)
        const answersAreLate = (plan.rate * 2 * latencyMs) / second
        expect(mostAbove(plan.rate, momentsOf(seen.sent))).toBeLessThanOrEqual(
          2 * sliceOf(plan.rate) + answersAreLate + 1,
        )
        expect(earliestMs(seen)).toBe(0)
        for (const worker of plan.workers.keys()) {
          const calls = seen.calls.filter((call) => call.worker === worker)
          const told = seen.told.filter((wait) => wait.worker === worker).length
          expect(mostAbove(1, momentsOf(calls.filter(({ isNote }) => !isNote)))).toBeLessThanOrEqual(2)
          expect(calls.filter(({ isNote }) => isNote).length).toBeLessThanOrEqual(3 * told)
        }
      }),
      { numRuns: 15 },
    )
  })

  it('exceed that by a slice for each of them when their clocks differ by seconds, and a wait by what they differ', async () => {
    await fc.assert(
      fc.asyncProperty(plans(fc.integer({ min: -5 * second, max: 5 * second })), async (plan) => {
        const seen = await watchWorkers(plan)
        const slices = plan.workers.length + 3
        expect(mostAbove(plan.rate, momentsOf(seen.sent))).toBeLessThanOrEqual(slices * sliceOf(plan.rate) + 1)
        const clocks = plan.workers.map(({ aheadMs }) => aheadMs)
        const differMs = Math.max(...clocks) - Math.min(...clocks)
        expect(earliestMs(seen)).toBeLessThanOrEqual(Math.max(0, differMs - 2 * second + latencyMs))
      }),
      { numRuns: 15 },
    )
  })
})

describe('workers that have much to ask', () => {
  const busy = { aheadMs: 0, concurrency: 1, requestMs: 50, from: 0, until: endsAt }
  const sentBy = async (workers: WorkerPlan[], rate: number) => {
    const { sent } = await watchWorkers({ workers, waits: [], rate, latencyMs, endsAt })
    return workers.map((_, n) => sent.filter(({ worker }) => worker === n).length / 30)
  }
  const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0)

  it('use nearly all of the rate, alone or together, and share it', async () => {
    expect(sum(await sentBy([{ ...busy, concurrency: 8 }], 20))).toBeGreaterThan(0.9 * 20)
    const four = await sentBy(Array(4).fill(busy), 20)
    expect(sum(four)).toBeGreaterThan(0.9 * 20)
    expect(Math.min(...four)).toBeGreaterThan(2.5)
  })

  it('are not slowed down by a rate that they do not reach', async () => {
    expect(sum(await sentBy(Array(8).fill({ ...busy, requestMs: 100 }), 200))).toBeGreaterThan(0.85 * 80)
  })

  it('keep their share when their clocks differ', async () => {
    const apart = await sentBy([busy, { ...busy, aheadMs: 5 * second }, { ...busy, aheadMs: -5 * second }], 20)
    expect(Math.min(...apart)).toBeGreaterThan(3)
    const wrong = await sentBy([busy, { ...busy, aheadMs: 365 * 86_400 * second }], 20)
    expect(Math.min(...wrong)).toBeGreaterThan(5)
  })
})

describe('what it costs', () => {
  const asking = { aheadMs: 0, concurrency: 1, requestMs: 100, from: 0 }
  const calls = async (until: number, rate?: number) => {
    const seen = await watchWorkers({ workers: [{ ...asking, until }], waits: [], rate, latencyMs, endsAt })
    return seen.calls.length
  }

  it('is one call for a small stream, and one a second for a large one, with a rate and without', async () => {
    expect(await calls(500)).toBe(1)
    expect(await calls(500, 50)).toBe(1)
    expect(await calls(endsAt)).toBeLessThanOrEqual(15)
    expect(await calls(endsAt, 50)).toBeLessThanOrEqual(30)
  })
})

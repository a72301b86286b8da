import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import { defaultRules, type LimitRules } from '../../../lib/limits/entries.ts'
import { checkPlan, followIntents, intentsOfPlan } from '../../../lib/limits/intake/apply-plan.ts'
import { makePlan } from '../../../lib/limits/intake/plan.ts'
import { readLimitsFile } from '../../../lib/limits/intake/read-file.ts'
import { allOf, at, intent, message, type Platform, start, startPlatform, workerOn } from '../fixture.ts'

let platform: Platform
let ana: string
let ben: string
beforeAll(async () => {
  platform = await startPlatform()
  ;[ana, ben] = platform.users as [string, string]
})
afterAll(() => platform.simulator.close())
beforeEach(() => {
  platform.simulator.clearFaults()
  platform.simulator.limits.clear()
  platform.puts.length = 0
})

type Worker = ReturnType<typeof workerOn>

async function planOf(limits: Record<string, number>, worker: Worker) {
  const text = `email,limit\n${Object.entries(limits)
    .map((row) => row.join(','))
    .join('\n')}`
  const file = await readLimitsFile(Buffer.from(text), defaultRules)
  const states = await worker.reader.statesWithPending(new Set(file.rows.map(({ identity }) => identity)))
  return makePlan({ source: 'limits.csv', file, states, knownUsers: null, rules: defaultRules, sendsAll: false })
}

function check(plan: Awaited<ReturnType<typeof planOf>>, worker: Worker, rules: LimitRules = defaultRules) {
  return checkPlan(plan, { reader: worker.reader, rules, unfinished: async () => 0 })
}

function intentsFor(plan: Awaited<ReturnType<typeof planOf>>, seconds = 60) {
  return intentsOfPlan(plan, { requestedAt: start + seconds * 1000, requestedBy: 'it' })
}

describe('a plan that is to be applied', () => {
  it('may be, while the ledger is where it was', async () => {
    const worker = workerOn(platform)
    await worker.apply([message(intent({ [ana]: 5 }))])
    await check(await planOf({ [ana]: 5, [ben]: 6 }, worker), worker)
  })

  it.each([
    ['was changed', { ana: 5, ben: 6 }, () => ({ [ana]: 7 })],
    ['was the same, and is no longer', { ana: 5, ben: 6 }, () => ({ [ana]: 4 })],
    ['was new, and has one', { ben: 6 }, () => ({ [ben]: 6 })],
  ])('may not be when a limit %s', async (_what, rows, meanwhile) => {
    const worker = workerOn(platform)
    await worker.apply([message(intent({ [ana]: 5 }))])
    const limits = Object.fromEntries(Object.entries(rows).map(([who, limit]) => [who === 'ana' ? ana : ben, limit]))
    const plan = await planOf(limits, worker)
    await worker.apply([message(intent(meanwhile(), { requestId: 'r2', requestedAt: at(1) }))])
    await expect(check(plan, worker)).rejects.toThrow(/1 of its limits have changed .* plan limits\.csv again/)
  })

  it('may not be while nobody knows whether a limit arrived', async () => {
    const worker = workerOn(platform)
    await worker.apply([message(intent({ [ana]: 5 }))])
    const plan = await planOf({ [ana]: 5 }, worker)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503, times: 50 })
    await worker.apply([message(intent({ [ana]: 9 }, { requestId: 'r2', requestedAt: at(1) }))])
    await expect(check(plan, worker)).rejects.toThrow('1 of its limits have changed')
  })

  it('may not be while earlier requests could change what it leaves as it is', async () => {
    const worker = workerOn(platform)
    await worker.apply([message(intent({ [ana]: 5 }))])
    const unfinished = async () => 1
    const deps = { reader: worker.reader, rules: defaultRules, unfinished }
    await checkPlan(await planOf({ [ana]: 6 }, worker), deps)
    await expect(checkPlan(await planOf({ [ana]: 5, [ben]: 6 }, worker), deps)).rejects.toThrow(
      'It leaves 1 limits as they are, and earlier requests are not finished.',
    )
  })

  it('may not be when the guard rails were drawn tighter since', async () => {
    const worker = workerOn(platform)
    const plan = await planOf({ [ana]: 5, [ben]: 600 }, worker)
    await expect(check(plan, worker, { ...defaultRules, maxLimit: 100 })).rejects.toThrow(
      'Line 3 asks for more than 100',
    )
    await expect(check(plan, worker, { ...defaultRules, maxChanges: 1 })).rejects.toThrow('At most 1 limits may change')
  })

  it('may not be when it was refused as a whole', async () => {
    const worker = workerOn(platform)
    await expect(check(await planOf({}, worker), worker)).rejects.toThrow('The file has no rows.')
  })
})

describe('intents of a plan', () => {
  it('are followed until each entry has its outcome, however it ended', async () => {
    const worker = workerOn(platform)
    const plan = await planOf({ [ana]: 5, [ben]: 6, 'nobody@x.io': 7 }, worker)
    const intents = intentsFor(plan)
    // A clock that never waits would leave the worker no time.
    const clock = systemClock
    const following = allOf(
      followIntents(intents, { reader: worker.reader, clock, signal: new AbortController().signal }),
    )
    await worker.apply(intents.map((one) => message(one)))
    const outcomes = (await following).flat()
    expect(outcomes.map(({ address, outcome }) => [address, outcome]).sort()).toEqual(
      [
        [ana, 'applied'],
        [ben, 'applied'],
        ['nobody@x.io', 'rejected'],
      ].sort(),
    )
    expect(outcomes[0]).toMatchObject({ source: `plan ${plan.id} of limits.csv`, requestedBy: 'it' })
  })

  it('are found behind others that get no outcome', async () => {
    const worker = workerOn(platform)
    const limits = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`user${i}@x.io`, i]))
    const intents = intentsFor(await planOf(limits, worker))
    await worker.apply(intents.slice(12).map((one) => message(one)))
    const stop = new AbortController()
    let found = 0
    for await (const some of followIntents(intents, {
      reader: worker.reader,
      clock: systemClock,
      signal: stop.signal,
      pauseMs: 1,
    })) {
      found += some.length
      if (found === 300) stop.abort()
    }
    expect(found).toBe(300)
  })
})

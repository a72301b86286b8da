import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultRules } from '../../../lib/limits/entries.ts'
import { intentsOfPlan } from '../../../lib/limits/intake/apply-plan.ts'
import { makePlan, type Plan } from '../../../lib/limits/intake/plan.ts'
import { changesOfPlan, rollbackRows } from '../../../lib/limits/intake/rollback.ts'
import type { LimitRows } from '../../../lib/limits/intake/rows.ts'
import { at, intent, message, start, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()

type Worker = ReturnType<typeof workerOn>

function fileOf(limits: Record<string, number>): LimitRows {
  const rows = Object.entries(limits).map(([address, limit], i) => ({ line: i + 2, identity: address, address, limit }))
  return { rows, invalid: [], aboveMaximum: [], notes: [] }
}

async function plan(file: LimitRows, worker: Worker): Promise<Plan> {
  const states = await worker.reader.statesWithPending(file.rows.map(({ identity }) => identity))
  return makePlan({ source: 'limits.csv', file, states, knownUsers: null, rules: defaultRules, sendsAll: false })
}

async function apply(planned: Plan, worker: Worker, minutes: number) {
  const intents = intentsOfPlan(planned, { requestedAt: start + minutes * 60_000, requestedBy: 'it' })
  await worker.apply(intents.map((each) => message(each)))
}

async function rollback(planned: Plan, worker: Worker, unknown?: number) {
  const changes = await changesOfPlan(planned.id, { reader: worker.reader, from: 0, to: start + 86_400_000 })
  const states = await worker.reader.statesWithPending(changes.map(({ identity }) => identity))
  return rollbackRows(planned.id, changes, { states, unknown })
}

describe('a rollback', () => {
  it('sets back what the plan changed, and names what it can not', async () => {
    const worker = workerOn(platform)
    const [ana, bob, cy, dee, eve] = platform.users as [string, string, string, string, string]
    await worker.apply([message(intent({ [ana]: 1, [bob]: 2, [cy]: 3, [eve]: 4 }))])
    const planned = await plan(fileOf({ [ana]: 10, [bob]: 20, [cy]: 30, [dee]: 40, [eve]: 50 }), worker)
    await apply(planned, worker, 1)
    await worker.apply([message(intent({ [bob]: 99, [eve]: 50 }, { requestId: 'newer', requestedAt: at(120) }))])
    const { rows, invalid } = await rollback(planned, worker)
    expect(rows.map(({ address, limit, why }) => [address, limit, why])).toEqual([
      [ana, 1, `sets back plan ${planned.id}`],
      [cy, 3, `sets back plan ${planned.id}`],
    ])
    expect(invalid.map(({ text, reason }) => [text, reason])).toEqual([
      [`${bob},20`, 'a newer request changed it to 99'],
      [`${dee},40`, expect.stringContaining('--unknown')],
      [`${eve},50`, 'a newer request asked for the same limit'],
    ])
    expect((await rollback(planned, worker, 0)).rows.map(({ address, limit }) => [address, limit])).toContainEqual([
      dee,
      0,
    ])
  })

  it('sets back what a newer request wanted to change and the platform refused', async () => {
    const worker = workerOn(platform)
    const [ana] = platform.users as [string]
    await worker.apply([message(intent({ [ana]: 1 }))])
    const planned = await plan(fileOf({ [ana]: 10 }), worker)
    await apply(planned, worker, 1)
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 422 })
    await worker.apply([message(intent({ [ana]: 20 }, { requestId: 'newer', requestedAt: at(120) }))])
    expect((await rollback(planned, worker)).rows).toMatchObject([{ address: ana, limit: 1 }])
  })

  it('of a plan that was never applied is empty', async () => {
    const worker = workerOn(platform)
    const planned = await plan(fileOf({ [platform.users[0] ?? '']: 10 }), worker)
    expect(await rollback(planned, worker)).toMatchObject({ rows: [], invalid: [] })
  })

  it('leaves each limit where it was before the plan, or where something newer put it, whatever was asked for', async () => {
    const limits = fc.dictionary(fc.integer({ min: 0, max: 7 }).map(String), fc.integer({ min: 0, max: 5 }))
    await fc.assert(
      fc.asyncProperty(limits, limits, limits, async (before, planned, after) => {
        const worker = workerOn(platform)
        platform.simulator.limits.clear()
        const named = (some: Record<string, number>) =>
          Object.fromEntries(Object.entries(some).map(([i, limit]) => [platform.users[Number(i)] ?? '', limit]))
        const send = async (some: Record<string, number>, requestId: string, seconds: number) => {
          if (Object.keys(some).length === 0) return
          await worker.apply([message(intent(some, { requestId, requestedAt: at(seconds) }))])
        }
        await send(named(before), 'before', 0)
        const first = await plan(fileOf(named(planned)), worker)
        await apply(first, worker, 1)
        await send(named(after), 'after', 120)
        const back = await plan(await rollback(first, worker), worker)
        await apply(back, worker, 3)
        const changed = new Set(first.changes.map(({ email }) => email))
        for (const [email, limit] of platform.simulator.limits) {
          const untouched = named(after)[email] ?? (changed.has(email) ? named(before)[email] : undefined)
          expect(limit).toBe(untouched ?? named(before)[email] ?? named(planned)[email])
        }
      }),
      { numRuns: 15 },
    )
  })
})

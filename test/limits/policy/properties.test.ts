import fc from 'fast-check'
import { expect, it } from 'vitest'
import { identityOf } from '../../../lib/limits/email.ts'
import { dayIn, daysAfter } from '../../../lib/limits/policy/calendar.ts'
import type { KeptPlan } from '../../../lib/limits/policy/memory.ts'
import { Killed, type PolicyWorld, policyWorld } from './world.ts'

const people = ['ana@x.io', 'Bob@x.io', 'cy@x.io', 'dee@y.io']
const departments = ['eng', 'ops'] as const
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati']
const person = fc.constantFrom(...people)
const limit = fc.constantFrom(0, 1, 500, 900, 2000, 5000)
/** Days around the start of each run, as many days later. */
const day = fc.integer({ min: -1, max: 6 })
const users = fc.dictionary(person, fc.constantFrom(...departments))

const guard = fc.record(
  {
    changesPerNight: fc.integer({ min: 0, max: 4 }),
    raise: fc.constantFrom(100, 1000),
    approval: fc.constantFrom('never' as const, 'always' as const, 1, 3),
  },
  { requiredKeys: [] },
)

const policy = fc.record({
  default: fc.option(limit, { nil: 'none' as const }),
  eng: limit,
  override: fc.option(fc.record({ who: person, limit, from: day, days: fc.integer({ min: 0, max: 3 }) }), {
    nil: null,
  }),
  leavers: fc.option(fc.record({ set: limit, afterDays: fc.integer({ min: 0, max: 2 }) }), { nil: null }),
  reassert: fc.option(fc.constantFrom(1, 3), { nil: null }),
  guard,
})
type Written = typeof policy extends fc.Arbitrary<infer T> ? T : never

const step = fc.oneof(
  fc.record({ do: fc.constant('users' as const), users }),
  fc.record({ do: fc.constant('policy' as const), policy }),
  fc.record({ do: fc.constant('hand' as const), who: person, limit, until: fc.option(day, { nil: null }) }),
  fc.record({ do: fc.constant('keep' as const), all: fc.boolean() }),
  fc.record({ do: fc.constant('approve' as const), rescan: fc.boolean() }),
  fc.record({ do: fc.constant('deliver' as const), most: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('suspect' as const) }),
  fc.record({ do: fc.constant('kill' as const), calls: fc.integer({ min: 1, max: 5 }), after: fc.boolean() }),
  fc.record({ do: fc.constant('fate' as const), who: person, fate: fc.constantFrom('reject', 'forget', 'fail') }),
  fc.record({ do: fc.constant('time' as const), hours: fc.integer({ min: 1, max: 40 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The text of a policy; days count from the start. */
function textOf(
  { default: rest, eng, override, leavers, reassert, guard: bounds }: Written,
  zone: string,
  start: string,
) {
  const { changesPerNight, raise, approval } = bounds
  const inside = [
    ...(changesPerNight === undefined ? [] : [`changesPerNight: ${changesPerNight}`]),
    ...(raise === undefined ? [] : [`raise: { absolute: ${raise} }`]),
    ...(approval === undefined
      ? []
      : [`approval: ${typeof approval === 'number' ? `{ above: ${approval} }` : approval}`]),
  ]
  const days = override && [daysAfter(start, override.from), daysAfter(start, override.from + override.days)]
  return [
    `timeZone: ${zone}`,
    `default: ${rest}`,
    `groups: [{ name: eng, limit: ${eng}, members: { metadata: { field: department, equals: eng } } }]`,
    ...(override && days
      ? [
          `overrides: [{ email: ${override.who}, limit: ${override.limit}, from: ${days[0]}, until: ${days[1]}, reason: r }]`,
        ]
      : []),
    ...(leavers ? [`leavers: { set: ${leavers.set}, afterDays: ${leavers.afterDays} }`] : []),
    ...(reassert ? [`reassert: ${reassert}`] : []),
    `guard: { ${inside.join(', ')} }`,
  ].join('\n')
}

type Run = {
  world: PolicyWorld
  zone: string
  start: string
  policy: Written
  users: Record<string, string>
  plans: Map<string, KeptPlan & { day: string }>
}

/** What plans changed today that nobody had to approve. */
function changesToday({ plans, world, zone }: Run) {
  const today = dayIn(zone, world.clock.now())
  const changes = [...plans.values()].flatMap(({ plan, day: sentOn }) => (sentOn === today ? plan.changes : []))
  return changes.filter((change) => change.from !== change.limit).length
}

/** Every plan that went on the queue, checked against the guard as a reader of the policy would. */
async function checkSent(run: Run, from: number) {
  const { world } = run
  for (const { body } of world.messages.slice(from)) {
    const { planId, sourceKind, approvedBy } = JSON.parse(body)
    if (sourceKind !== 'policy' || approvedBy !== undefined) continue
    const kept = await world.store.plan(planId)
    if (!kept) throw new Error('a plan was sent before it was kept')
    run.plans.set(planId, { ...kept, day: dayIn(run.zone, world.clock.now()) })
    const { changesPerNight, raise, approval } = run.policy.guard
    const real = kept.plan.changes.filter((change) => change.from !== change.limit)
    if (raise !== undefined)
      for (const { from: before, limit: after } of real) expect(after - (before ?? after)).toBeLessThanOrEqual(raise)
    expect(approval).not.toBe('always')
    if (typeof approval === 'number') expect(real.length).toBeLessThanOrEqual(approval)
    if (changesPerNight !== undefined) expect(changesToday(run)).toBeLessThanOrEqual(changesPerNight)
  }
}

async function take(run: Run, one: Step): Promise<void> {
  const { world } = run
  await world.clock.sleep(60_000)
  if (one.do === 'users') {
    run.users = one.users
    world.scan(one.users)
  }
  if (one.do === 'policy') {
    run.policy = one.policy
    world.policy = textOf(one.policy, run.zone, run.start)
  }
  if (one.do === 'hand')
    world.byHand(one.who, one.limit, one.until === null ? undefined : daysAfter(run.start, one.until))
  if (one.do === 'fate') world.fates.set(one.who, one.fate as 'reject')
  if (one.do === 'time') await world.clock.sleep(one.hours * 3_600_000)
  if (one.do === 'deliver') await world.deliver(one.most)
  if (one.do === 'suspect') await suspect(world)
  const sent = world.messages.length
  if (one.do === 'kill') Object.assign(world, { callsLeft: one.calls, diesAfter: one.after })
  if (one.do === 'keep' || one.do === 'kill') await mortal(() => world.keep({ all: one.do === 'keep' && one.all }))
  if (one.do === 'approve') await mortal(() => approve(run, one.rescan))
  world.callsLeft = Number.POSITIVE_INFINITY
  await checkSent(run, sent)
}

async function mortal(work: () => Promise<unknown>) {
  await work().catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error
  })
}

async function approve({ world }: Run, rescan: boolean) {
  const newest = await world.store.newest()
  if (!newest) return
  if (rescan) world.scans += 1
  const { status } = await world.approve(newest.plan.id)
  const isNewest = newest.plan.usersScan === `scan-${world.scans}`
  if (status === 'queued') expect([newest.status, isNewest]).toEqual(['waiting', true])
}

/** A list of users that can't be trusted changes nothing, whatever it says. */
async function suspect(world: PolicyWorld) {
  const { users: before } = world
  const now = [world.written.length, world.messages.length]
  Object.assign(world, { users: [], suspect: true })
  expect((await world.keep()).status).toBe('unusable')
  expect([world.written.length, world.messages.length]).toEqual(now)
  Object.assign(world, { users: before, suspect: false })
}

/** Nobody holds the policy up any more: all is delivered, and what waits is approved. */
async function settle({ world }: Run) {
  for (let turn = 0; turn < 6; turn++) {
    await world.clock.sleep(60_000)
    await world.drain()
    const kept = await world.keep()
    if (kept.status === 'settled' || kept.status === 'nothing') return
    if (kept.status === 'waiting') await world.approve(kept.kept.plan.id)
    await world.drain()
  }
  throw new Error('the policy never came to rest')
}

/** What the policy says, as its reader would work it out. */
function wanted({ policy: written, users: list, world, zone, start }: Run) {
  const today = dayIn(zone, world.clock.now())
  const { override } = written
  const holds =
    override && daysAfter(start, override.from) <= today && today <= daysAfter(start, override.from + override.days)
  return Object.entries(list).flatMap(([email, department]): [string, number][] => {
    if (holds && override.who === email) return [[identityOf(email), override.limit]]
    const by = department === 'eng' ? written.eng : written.default
    return by === 'none' ? [] : [[identityOf(email), by]]
  })
}

it('ends where the policy says, whatever policies, users, files, clocks, approvals, answers and deaths come', async () => {
  const starts = fc.constantFrom('2026-05-06', '2028-02-27', '2026-03-27', '2026-10-23', '2026-12-30')
  await fc.assert(
    fc.asyncProperty(
      starts,
      fc.constantFrom(...zones),
      fc.array(step, { maxLength: 25 }),
      policy,
      async (...[start, zone, steps, last]) => {
        const world = policyWorld(`${start}T02:00:00Z`)
        const run: Run = { world, zone, start, policy: last, users: { 'ana@x.io': 'eng' }, plans: new Map() }
        world.policy = textOf(last, zone, start)
        world.scan(run.users)
        for (const one of steps) await take(run, one)
        const relaxed = { ...last, guard: {} }
        await take(run, { do: 'policy', policy: relaxed })
        await settle(run)
        const states = await world.worker.reader.statesWithPending(wanted(run).map(([identity]) => identity))
        const today = dayIn(zone, world.clock.now())
        for (const [identity, limit] of wanted(run)) {
          const state = states.get(identity)
          const isHeld = state?.sourceKind === 'file' && state.until !== undefined && today <= state.until
          // It is asked for again, but not yet.
          const isRefused = state?.status === 'rejected' && state.wanted === limit
          if (!isHeld && !isRefused) expect([identity, state?.limit, state?.certain]).toEqual([identity, limit, true])
          if (state?.certain)
            expect(world.platform.get(people.find((one) => identityOf(one) === identity) ?? '')).toBe(state?.limit)
        }
        const before = world.written.length
        expect((await world.keep()).status).toBe('settled')
        expect(world.written.length).toBe(before)
      },
    ),
    { numRuns: 25 },
  )
}, 900_000)

import { describe, expect, it } from 'vitest'
import { Killed, policyWorld } from './world.ts'

const policy = `
default: 500
groups: [{ name: eng, limit: 2000, members: { metadata: { field: department, equals: eng } } }]
leavers: { set: 0 }
`
const hour = 3_600_000

async function started(text = policy) {
  const world = policyWorld()
  world.policy = text
  world.scan({ 'ana@x.io': 'eng', 'bob@x.io': 'ops' })
  return world
}

describe('a policy', () => {
  it('gives joiners theirs, takes it from leavers, and says of each limit who answers for it', async () => {
    const world = await started()
    const kept = await world.keep()
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 500 })
    const [outcome] = await world.worker.reader.outcomesOf('ana@x.io')
    const planId = kept.status === 'queued' ? kept.kept.plan.id : ''
    const version = { policyVersion: expect.stringMatching(/^[0-9a-f]{12}$/) }
    expect(outcome).toMatchObject({
      sourceKind: 'policy',
      planId,
      rule: 'group eng',
      why: 'metadata.department',
      ...version,
    })
    await world.clock.sleep(24 * hour)
    world.scan({ 'ana@x.io': 'ops', 'cy@x.io': 'eng' })
    await world.keep()
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 500, 'bob@x.io': 0, 'cy@x.io': 2000 })
  })

  it('costs next to nothing where nothing changed: it reads no user, and writes nothing', async () => {
    const world = await started()
    await world.keep()
    await world.drain()
    expect(await world.keep()).toEqual({ status: 'nothing' })
    const writes = world.written.length
    await world.clock.sleep(24 * hour)
    world.scans += 1
    expect(await world.keep()).toEqual({ status: 'settled' })
    expect([world.written.length, world.messages.length]).toEqual([writes, 0])
  })

  it('POL-05 sets back by night what was changed by hand, unless that names a time that has not come', async () => {
    const world = await started()
    await world.keep()
    await world.drain()
    await world.clock.sleep(hour)
    world.byHand('ana@x.io', 9)
    world.byHand('bob@x.io', 8, '2026-05-07')
    await world.drain()
    await world.keep()
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 8 })
    await world.clock.sleep(48 * hour)
    await world.keep()
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 500 })
  })

  it('waits while messages are on the queue: one of them may be newer than what it knows', async () => {
    const world = await started()
    world.byHand('bob@x.io', 8, '2026-06-01')
    expect(await world.keep()).toEqual({ status: 'busy', messages: 1 })
    await world.drain()
    await world.keep()
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 8 })
  })

  it('sends everything again as often as it says, and when it is asked to', async () => {
    const world = await started(`${policy}reassert: 7\n`)
    await world.keep()
    await world.drain()
    await world.keep()
    expect(await world.keep({ all: true })).toMatchObject({ status: 'queued', kept: { plan: { changes: [{}, {}] } } })
    await world.drain()
    await world.clock.sleep(6 * 24 * hour)
    expect(await world.keep()).toEqual({ status: 'nothing' })
    await world.clock.sleep(24 * hour)
    expect(await world.keep()).toMatchObject({ status: 'queued', kept: { plan: { changes: [{}, {}] } } })
    await world.drain()
    expect(await world.keep()).toEqual({ status: 'nothing' })
  })

  it('POL-01 changes nothing when it has a mistake, names somebody twice, or the users are suspect', async () => {
    const world = await started()
    await world.keep()
    await world.drain()
    const before = await world.limits()
    world.scan({})
    world.suspect = true
    expect(await world.keep()).toEqual({ status: 'unusable', reason: 'suspect' })
    world.suspect = false
    world.policy = 'default: x'
    expect(await world.keep()).toMatchObject({ status: 'invalid', faults: [{ line: 1, column: 1 }] })
    world.scan({ 'ana@x.io': 'eng' })
    const group = (name: string) => `{ name: ${name}, limit: 1, members: { domains: [x.io] } }`
    world.policy = `default: 1\ngroups: [${group('a')}, ${group('b')}]`
    expect(await world.keep()).toEqual({ status: 'contested', contested: [{ address: 'ana@x.io', rules: ['a', 'b'] }] })
    expect([await world.limits(), world.messages.length]).toEqual([before, 0])
  })
})

describe('a guard', () => {
  it.each([
    ['changesPerNight: 1', 'It changes 2 limits; guard.changesPerNight is 1.'],
    ['total: 2499', 'All limits together come to 2500; guard.total is 2499.'],
    ['approval: always', 'guard.approval is always.'],
    ['approval: { above: 1 }', 'It changes 2 limits; guard.approval is above 1.'],
  ])('POL-03 lets a plan wait that is outside of it: %s', async (guard, reason) => {
    const world = await started(`${policy}guard: { ${guard} }\n`)
    expect(await world.keep()).toMatchObject({ status: 'waiting', kept: { reasons: [reason] } })
    expect(world.messages).toEqual([])
  })

  it.each([
    ['raise: { absolute: 1499 }', 'ana@x.io 500 -> 2000: beyond guard.raise (1499).'],
    ['raise: { percent: 299 }', 'ana@x.io 500 -> 2000: beyond guard.raise (299 %).'],
    ['cut: { percent: 10 }', 'bob@x.io 500 -> 0: beyond guard.cut (10 %).'],
  ])('measures raises and cuts against what somebody has: %s', async (guard, reason) => {
    const world = await started()
    world.scan({ 'ana@x.io': 'ops', 'bob@x.io': 'ops' })
    await world.keep()
    await world.drain()
    world.policy = `${policy}guard: { ${guard} }\n`
    world.scan({ 'ana@x.io': 'eng' })
    expect(await world.keep()).toMatchObject({ status: 'waiting', kept: { reasons: [reason] } })
  })

  it('counts the changes of a whole day', async () => {
    const world = await started(`${policy}guard: { changesPerNight: 2 }\n`)
    await world.keep()
    await world.drain()
    world.scan({ 'ana@x.io': 'eng', 'bob@x.io': 'ops', 'cy@x.io': 'ops' })
    expect(await world.keep()).toMatchObject({ status: 'waiting' })
    await world.clock.sleep(24 * hour)
    expect(await world.keep()).toMatchObject({ status: 'queued' })
  })

  it('counts nothing that somebody approved: the night keeps its changes', async () => {
    const world = await started(`${policy}guard: { changesPerNight: 1 }\n`)
    const kept = await world.keep()
    expect(kept).toMatchObject({ status: 'waiting' })
    const approved = await world.approve('kept' in kept ? kept.kept.plan.id : '')
    expect(approved).toMatchObject({ status: 'queued', kept: { approvedBy: 'cy', approvedFor: 'a move' } })
    await world.drain()
    world.scan({ 'ana@x.io': 'eng', 'bob@x.io': 'ops', 'cy@x.io': 'ops' })
    expect(await world.keep()).toMatchObject({ status: 'queued' })
  })

  it('asks again for what the platform refused after a week, or when its user comes back to the list', async () => {
    const world = await started()
    const refuse = async () => {
      world.fates.set('ana@x.io', 'reject')
      while (world.messages.length > 0) await world.deliver()
    }
    await world.keep()
    await refuse()
    await world.clock.sleep(24 * hour)
    expect((await world.keep()).status).toBe('nothing')
    await world.clock.sleep(5 * 24 * hour)
    expect((await world.keep()).status).toBe('settled')
    await world.clock.sleep(24 * hour)
    expect(await world.keep()).toMatchObject({ status: 'queued', kept: { plan: { changes: [{ email: 'ana@x.io' }] } } })
    await refuse()
    world.scan({ 'bob@x.io': 'ops' })
    await world.keep()
    await refuse()
    world.scan({ 'ana@x.io': 'eng', 'bob@x.io': 'ops' })
    expect(await world.keep()).toMatchObject({ status: 'queued', kept: { plan: { changes: [{ email: 'ana@x.io' }] } } })
  })

  it('refuses what nobody may approve', async () => {
    const world = await started(`${policy}guard: { changesPerNight: 1, approval: never }\n`)
    const kept = await world.keep()
    expect(kept.status).toBe('refused')
    const id = 'kept' in kept ? kept.kept.plan.id : ''
    expect(await world.approve(id)).toMatchObject({ status: 'not_waiting' })
  })
})

describe('an approval', () => {
  async function waiting() {
    const world = await started(`${policy}guard: { approval: always }\n`)
    const kept = await world.keep()
    return { world, id: 'kept' in kept ? kept.kept.plan.id : '' }
  }

  it('carries the plan out, and stands on each outcome', async () => {
    const { world, id } = await waiting()
    expect(await world.approve(id)).toMatchObject({ status: 'queued', kept: { approvedBy: 'cy' } })
    await world.drain()
    expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 500 })
    expect(await world.worker.reader.outcomesOf('bob@x.io')).toMatchObject([{ approvedBy: 'cy', planId: id }])
    expect(await world.approve(id)).toMatchObject({ status: 'not_waiting', newest: { status: 'queued' } })
  })

  it('POL-04 of a plan that is older than the newest scan is refused, and the plan is made anew', async () => {
    const { world, id } = await waiting()
    world.scans += 1
    const approved = await world.approve(id)
    expect(approved).toMatchObject({ status: 'stale', result: { status: 'waiting' } })
    expect(world.messages).toEqual([])
    const newer = await world.store.newest()
    expect(newer?.plan.id).not.toBe(id)
    expect(await world.approve(newer?.plan.id ?? '')).toMatchObject({ status: 'queued' })
  })

  it.each(['a limit', 'the policy'])('of a plan since which %s changed is refused', async (what) => {
    const { world, id } = await waiting()
    if (what === 'the policy') world.policy = world.policy.replace('2000', '2001')
    else world.byHand('ana@x.io', 3)
    await world.drain()
    expect(await world.approve(id)).toMatchObject({ status: 'stale' })
    expect(world.messages).toEqual([])
  })
})

it('that dies anywhere is kept true by the next one, and asks for no approval too few', async () => {
  for (const diesAfter of [false, true]) {
    for (let calls = 1; calls <= 5; calls++) {
      const world = await started(`${policy}guard: { changesPerNight: 2 }\n`)
      Object.assign(world, { callsLeft: calls, diesAfter })
      const first = await world.keep().catch((error: unknown) => error)
      world.callsLeft = Number.POSITIVE_INFINITY
      if (calls < 5) expect(first).toBeInstanceOf(Killed)
      await world.drain()
      const second = await world.keep()
      expect(['queued', 'nothing', 'settled']).toContain(second.status)
      await world.drain()
      expect(await world.limits()).toEqual({ 'ana@x.io': 2000, 'bob@x.io': 500 })
    }
  }
})

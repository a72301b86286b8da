import { expect, it } from 'vitest'
import { intent, message, usePlatform, workerOn } from './fixture.ts'

const platform = await usePlatform()

const request = { requestId: 'r1', sourceKind: 'policy', planId: 'p1', policyVersion: 'v1', approvedBy: 'cy' } as const

it('stands on the outcome and the state of an entry, and an entry without one has none', async () => {
  const [ana, bob] = platform.users as [string, string]
  const { apply, reader } = workerOn(platform)
  const limits = [{ email: ana, limit: 5, rule: 'override', why: 'migration', until: '2026-05-31' }]
  await apply([message(intent(limits, request)), message(intent({ [bob]: 6 }, { requestId: 'r2' }))])
  const origin = { ...request, rule: 'override', why: 'migration', until: '2026-05-31' }
  expect((await reader.outcomesOf(ana))[0]).toMatchObject({ outcome: 'applied', ...origin })
  const states = await reader.statesWithPending([ana, bob])
  expect(states.get(ana)).toMatchObject({ ...origin, limit: 5 })
  for (const found of [states.get(bob), (await reader.outcomesOf(bob))[0]]) {
    expect(Object.keys(found ?? {})).not.toContain('sourceKind')
  }
})

it('stays that of the limit that stands where the platform refuses a newer one', async () => {
  const { apply, reader } = workerOn(platform)
  const [ana] = platform.users as [string]
  await apply([message(intent([{ email: ana, limit: 5, why: 'first' }], { requestId: 'a' }))])
  platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 400, times: 9 })
  await apply([message(intent([{ email: ana, limit: 7, why: 'second' }], { requestId: 'b' }))])
  expect((await reader.outcomesOf(ana))[0]).toMatchObject({ outcome: 'rejected', why: 'second' })
  expect((await reader.statesWithPending([ana])).get(ana)).toMatchObject({ status: 'rejected', limit: 5, why: 'first' })
})

it.each([['never'], ['2027-02-29'], [5]])('makes an entry invalid whose until is %j', async (until) => {
  const { apply, reader } = workerOn(platform)
  await apply([message(intent([{ email: 'a@x.io', limit: 5, until }] as never))])
  expect(await reader.outcomesOf('a@x.io')).toMatchObject([
    { outcome: 'invalid', reason: expect.stringMatching(/until is no day/) },
  ])
})

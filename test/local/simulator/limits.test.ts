import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { CreditLimitsResult } from '../../../lib/platform/schemas/credit-limits.ts'
import { ask, paths, send } from './ask.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterAll(() => sim.close())

describe('credit limits', () => {
  it('answer updated for users, and an error for others', async () => {
    const users = (await ask(sim, paths.users)).body.users as { email: string }[]
    const email = users[3]?.email as string
    const entries = [
      { email: email.toUpperCase(), limit: 0 },
      { email: 'nobody@example.com', limit: 5 },
      { email: users[4]?.email, limit: -1 },
    ]
    const { status, body } = await send(sim, `PUT ${paths.limits}`, { users: entries })
    expect(status).toBe(200)
    expect(CreditLimitsResult.parse(body)).toEqual({
      updated: [{ email: email.toUpperCase(), limit: 0 }],
      errors: [
        { email: 'nobody@example.com', error: 'user not found' },
        { email: users[4]?.email, error: 'limit must not be negative' },
      ],
    })
    expect([...sim.limits]).toEqual([[email, 0]])
  })

  it.each([
    [undefined],
    [[]],
    [Array.from({ length: 101 }, () => ({ email: 'a@example.com', limit: 1 }))],
    [[{ email: 'a@example.com' }]],
    [[{ limit: 1 }]],
    [[{ email: 'a@example.com', limit: '5' }]],
  ])('refuse a request that is not 1 to 100 entries (case %#)', async (users) => {
    expect((await send(sim, `PUT ${paths.limits}`, { users })).status).toBe(400)
  })

  it('know a user that was written by a test', async () => {
    sim.put('users', 'new', { value: { id: 'new', email: 'New@example.com' } })
    const { body } = await send(sim, `PUT ${paths.limits}`, { users: [{ email: 'new@example.com', limit: 9 }] })
    expect(body.errors).toEqual([])
  })
})

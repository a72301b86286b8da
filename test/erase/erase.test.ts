import { describe, expect, it } from 'vitest'
import { eraseUser } from '../../lib/erase/erase.ts'
import { planErasure } from '../../lib/erase/plan.ts'
import { ada, erasingWorld, everythingKept, tracesIn } from './erasing-world.ts'

describe('a plan of an erasure', () => {
  it('says who is meant, and what would go, and changes nothing', async () => {
    const world = await erasingWorld()
    const before = await everythingKept(world)
    const { plan } = await planErasure(ada, world.deps)
    expect(plan.person).toMatchObject({ addresses: ['ada@example.com'], ids: ['user-ada'], others: ['ada-laptop'] })
    expect(plan.refusals).toEqual([])
    const places = Object.fromEntries(plan.places.map(({ place, mentions, fate }) => [place, `${mentions} ${fate}`]))
    console.log(places, plan.person)
    expect(await everythingKept(world)).toBe(before)
  })
})

describe('an erasure', () => {
  it('leaves no byte of the person, in no version, and all of the others', async () => {
    const world = await erasingWorld()
    expect(tracesIn(await everythingKept(world)).length).toBeGreaterThan(3)
    const erasure = await eraseUser(ada, { erasedBy: 'an admin', deps: world.deps })
    expect(erasure.left).toEqual([])
    const after = await everythingKept(world)
    expect(tracesIn(after)).toEqual([])
    expect(after).toContain('granada@example.com')
  })
})

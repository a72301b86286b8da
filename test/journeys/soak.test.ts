import { expect, it } from 'vitest'
import { faultKinds } from '../soak/plan.ts'
import { soak } from '../soak/soak.ts'

it('keeps its promises through nights with every kind of fault', async () => {
  const { figures, struck } = await soak({ nights: 24, seed: 14 })
  expect(figures).toHaveLength(24)
  expect([...struck.keys()].sort()).toEqual([...faultKinds].sort())
})

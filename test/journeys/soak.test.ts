import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { faultKinds } from '../soak/plan.ts'
import { soak } from '../soak/soak.ts'

it('keeps its promises through nights with every kind of fault', async () => {
  const { figures, struck } = await soak({ nights: 24, seed: 14 })
  expect(figures).toHaveLength(24)
  expect([...struck.keys()].sort()).toEqual([...faultKinds].sort())
})

const seed = randomInt(1_000_000_000)

it(`keeps its promises through nights that nobody chose (seed ${seed})`, async () => {
  const { figures } = await soak({ nights: 6, seed })
  expect(figures).toHaveLength(6)
})

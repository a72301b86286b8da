import { expect, it } from 'vitest'
import { startSimulator } from '../../lib/local/simulator/simulator.ts'
import { drawsOf } from '../soak/draws.ts'
import { liveOn } from '../soak/life.ts'
import { faultKinds } from '../soak/plan.ts'
import { everythingListed, messagesListed } from '../soak/platform-lists.ts'
import { soak } from '../soak/soak.ts'

it('keeps its promises through nights with every kind of fault', async () => {
  const { figures, struck } = await soak({ nights: 30, seed: 14 })
  expect(figures).toHaveLength(30)
  expect([...struck.keys()].sort()).toEqual([...faultKinds].sort())
})

it('lives on a platform where no session hides that its messages changed, also with a field of tomorrow', async () => {
  const counts = { sessions: 5, users: 0, reports: 0, revisions: 0, computers: 1, messagesPerSession: 2 }
  const rates = { sessions: { changed: 1, added: 0, removed: 0 } }
  const simulator = await startSimulator({ seed: 14, counts, rates })
  const states = async () => {
    const sessions = await everythingListed(simulator, 'sessions')
    const each = sessions.map(async ({ sessionId, updatedAt, messageCount }) => {
      const sign = JSON.stringify([sessionId, updatedAt, messageCount])
      return [sign, await messagesListed(simulator, String(sessionId))] as const
    })
    return new Map(await Promise.all(each))
  }
  const tomorrow = { kind: 'field of tomorrow', list: 'sessions' } as const
  await liveOn({ simulator, secret: (place) => place }, { faults: [tomorrow], lively: false }, drawsOf(14, 1, 'day'))
  const before = await states()
  simulator.advance()
  const after = await states()
  await simulator.close()
  const same = [...after].filter(([sign]) => before.has(sign))
  expect(same.length).toBeGreaterThan(0)
  expect(same.length).toBeLessThan(after.size)
  for (const [sign, messages] of same) expect(messages).toEqual(before.get(sign))
})

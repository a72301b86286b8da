import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createQueue } from '../../lib/core/concurrency.ts'

describe('a queue', () => {
  it('runs at most so many at a time, in the order in which it was asked to', async () => {
    const inTurn = createQueue(2)
    const began: number[] = []
    let running = 0
    let most = 0
    const work = async (n: number) => {
      began.push(n)
      running += 1
      most = Math.max(most, running)
      await turn()
      running -= 1
      return n * 10
    }
    const answers = await Promise.all([0, 1, 2, 3, 4].map((n) => inTurn(() => work(n))))
    expect(answers).toEqual([0, 10, 20, 30, 40])
    expect([most, began]).toEqual([2, [0, 1, 2, 3, 4]])
  })

  it('goes on after a failure, which is that of its own work', async () => {
    const inTurn = createQueue(1)
    const failing = inTurn(async () => {
      await turn()
      throw new Error('no')
    })
    const following = inTurn(async () => 'yes')
    await expect(failing).rejects.toThrow('no')
    expect(await following).toBe('yes')
    expect(await inTurn(async () => 'again')).toBe('again')
  })
})

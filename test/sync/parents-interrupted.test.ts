import { describe, expect, it } from 'vitest'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { begin } from './support/nights.ts'

describe('a scan of lists per parent', () => {
  /** Attempts of so many pages each, until one completes. */
  async function inPieces(
    { world, platform }: ReturnType<typeof begin>,
    pages: number,
    between: () => Promise<unknown> = async () => {},
  ) {
    for (let n = 0; n < 20; n++) {
      let looks = 0
      const deadline = { remainingMs: () => (++looks > pages ? 0 : Number.POSITIVE_INFINITY) }
      const result = await world.sync(sessionMessages, platform.source, { deadline })
      if (result.status !== 'paused') return result
      await between()
    }
    throw new Error('it does not end')
  }

  it('goes on where it was, also within a list', async () => {
    const started = begin({ a: 4, b: 7, c: 1, d: 4 })
    await started.readSessions()
    const result = await inPieces(started, 2)
    expect(result).toMatchObject({ status: 'complete', counts: { received: 16, inserted: 16, duplicate: 0 } })
    expect(started.live()).toEqual(started.platform.keys())
    expect(started.platform.takeAsked()).toHaveLength(8)
  })

  it('reads a list from its first page when its parent changed since it was begun, or was read', async () => {
    const started = begin({ a: 4, b: 12, c: 4 })
    const { platform, readSessions } = started
    await readSessions()
    let nights = 0
    const result = await inPieces(started, 3, async () => {
      if (nights++ > 1) return
      platform.change('a', (messages) => messages.slice(1))
      platform.change('b', (messages) => messages.slice(1))
      await readSessions()
    })
    expect(result.status).toBe('complete')
    expect(started.live()).toEqual(platform.keys())
    expect(await started.night()).toMatchObject({ counts: { inserted: 0, updated: 0, deleted: 0 } })
  })
})

describe('what a scan has deleted', () => {
  /** A worker that dies when deletes are written and nothing else of its scan is. */
  async function dieAfterDeletes({ world, platform }: ReturnType<typeof begin>) {
    const writeIndex = () => Promise.reject(new Error('killed'))
    const index = { ...world.index, writeIndex }
    await expect(world.sync(sessionMessages, platform.source, { index })).rejects.toThrow('killed')
    world.clock.advance(600_000)
  }

  it('is deleted once, and is there again when it comes back before the scan has ended', async () => {
    const started = begin({ a: 3, b: 3 })
    const { platform, world, readSessions, readMessages, live, night } = started
    await night()
    await world.publish([sessionMessages])
    const [first] = platform.records().values()
    const { sessionId: _, ...back } = first!
    platform.change('a', (messages) => messages.slice(1))
    platform.end('b')
    await readSessions()
    await dieAfterDeletes(started)
    platform.change('a', (messages) => [back, ...messages])
    platform.revive()
    await readSessions()
    expect(await readMessages()).toMatchObject({ status: 'complete' })
    expect(live()).toEqual(platform.keys())
    await world.publish([sessionMessages])
    expect([...world.current(sessionMessages).keys()].sort()).toEqual(platform.keys())
    const deletes = world.lake.publishedRows('session_messages').filter(({ _op }) => _op === 'delete')
    expect(deletes).toHaveLength(4)
  })
})

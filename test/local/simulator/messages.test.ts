import { afterEach, describe, expect, it } from 'vitest'
import type { SimulatorOptions } from '../../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { Message } from '../../../lib/platform/schemas/message.ts'
import { ask, paths, type Row, scan } from './ask.ts'

const running: Simulator[] = []
async function start(options: SimulatorOptions = {}) {
  const sim = await startSimulator(options)
  running.push(sim)
  return sim
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.close()))
})

type Held = { session: Row; messages: Map<string, Row> }

/** All sessions with their messages, by id. */
async function held(sim: Simulator): Promise<Map<string, Held>> {
  const found = new Map<string, Held>()
  for (const session of await scan(sim, paths.sessions)) {
    const messages = await scan(sim, `${paths.sessions}/${session.sessionId}/messages`)
    found.set(session.sessionId as string, {
      session,
      messages: new Map(messages.map((row) => [row.id as string, row])),
    })
  }
  return found
}

const small = { counts: { sessions: 20, messagesPerSession: 6 }, rates: { sessions: { changed: 0.4 } } }

describe('the messages of sessions', () => {
  it('are as many as each session says, and none is newer than its session, whatever the clock', async () => {
    const sim = await start(small)
    for (const _ of [0, 1, 2]) {
      for (const { session, messages } of (await held(sim)).values()) {
        expect(messages.size).toBe(session.messageCount)
        const newest = Math.max(
          ...[...messages.values()].flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt].map(Number)),
        )
        expect(newest).toBeLessThanOrEqual(session.updatedAt as number)
      }
      sim.advance()
    }
  })

  it('are added, edited and taken away by the clock, and the session shows it', async () => {
    const sim = await start(small)
    const seen = { changed: 0, added: 0, edited: 0, gone: 0 }
    let before = await held(sim)
    for (const _ of [0, 1, 2]) {
      sim.advance()
      const after = await held(sim)
      for (const [id, { session, messages }] of after) {
        const old = before.get(id)
        if (!old) continue
        const added = [...messages.keys()].filter((key) => !old.messages.has(key)).length
        const gone = [...old.messages.keys()].filter((key) => !messages.has(key)).length
        const edited = [...messages].filter(([key, row]) => {
          const was = old.messages.get(key)
          return was !== undefined && JSON.stringify(was) !== JSON.stringify(row)
        })
        for (const [key, row] of edited)
          expect(Number(row.updatedAt)).toBeGreaterThan(Number(old.messages.get(key)?.updatedAt))
        const moved = session.updatedAt !== old.session.updatedAt
        expect(moved).toBe(added + gone + edited.length > 0)
        seen.changed += moved ? 1 : 0
        seen.added += added
        seen.gone += gone
        seen.edited += edited.length
      }
      before = after
    }
    expect(Object.values(seen).every((count) => count > 3)).toBe(true)
  })

  it('hold texts, thinking, calls and results of tools, images and files', async () => {
    const sim = await start({ counts: { sessions: 25, messagesPerSession: 12 } })
    const messages = [...(await held(sim)).values()].flatMap((each) => [...each.messages.values()])
    for (const message of messages) expect(Message.safeParse(message).error).toBeUndefined()
    const types = new Set(messages.flatMap(({ content }) => (content as Row[]).map(({ type }) => type)))
    expect([...types].toSorted()).toEqual(['file', 'image', 'text', 'thinking', 'tool_result', 'tool_use'])
  })

  it('have content of odd forms where that is asked for, and are as many', async () => {
    const sim = await start({ oddMessages: 0.5, counts: { sessions: 30, messagesPerSession: 8 } })
    const messages = [...(await held(sim)).values()].flatMap((each) => [...each.messages.values()])
    const odd = messages.filter((message) => !Message.safeParse(message).success)
    expect(odd.length).toBeGreaterThan(messages.length / 4)
    expect(odd.length).toBeLessThan(messages.length)
    expect(odd.some(({ content }) => content === null)).toBe(true)
    expect(odd.some(({ content }) => typeof content === 'string')).toBe(true)
  })

  it('are served for a million sessions without any of them being held', async () => {
    const sim = await start({ counts: { sessions: 1_000_000, messagesPerSession: 20 } })
    const heapBefore = process.memoryUsage().heapUsed
    const { sessions } = (await ask(sim, `${paths.sessions}?limit=20`)).body as { sessions: Row[] }
    for (const { sessionId, messageCount } of sessions) {
      expect(await scan(sim, `${paths.sessions}/${sessionId}/messages`)).toHaveLength(messageCount as number)
    }
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(100e6)
  })

  it('can be set as a whole, whatever they hold', async () => {
    const sim = await start(small)
    const [session] = await scan(sim, paths.sessions)
    sim.putMessages(session?.sessionId as string, [{ value: { id: 'a' } }, { text: 'null' }])
    expect(await scan(sim, `${paths.sessions}/${session?.sessionId}/messages`)).toEqual([{ id: 'a' }, null])
  })
})

describe('faults of one session', () => {
  it('leave the messages of the others alone', async () => {
    const sim = await start(small)
    const [one, other] = (await scan(sim, paths.sessions)).map(({ sessionId }) => sessionId as string)
    const page = (id: string | undefined, query = '') => ask(sim, `${paths.sessions}/${id}/messages?limit=1${query}`)
    // A session that goes while its messages are read.
    const fault = sim.fault({
      kind: 'status',
      endpoint: 'listMessages',
      status: 404,
      sessionId: one as string,
      after: 1,
    })
    const first = await page(one)
    const { nextCursor } = first.body.pagination as { nextCursor: string }
    expect([first.status, (await page(other)).status]).toEqual([200, 200])
    expect((await page(one, `&cursor=${nextCursor}`)).status).toBe(404)
    expect([(await page(other)).status, fault.hits()]).toEqual([200, 1])
  })

  it.each(['missingNextCursor', 'truncatedList', 'emptyList', 'endlessCursor'] as const)(
    'break its list as they break others: %s',
    async (kind) => {
      const sim = await start(small)
      const [one, other] = (await scan(sim, paths.sessions)).map(({ sessionId }) => sessionId as string)
      const before = (await ask(sim, `${paths.sessions}/${one}/messages`)).body
      sim.fault({ kind, endpoint: 'listMessages', sessionId: one as string })
      expect((await ask(sim, `${paths.sessions}/${one}/messages`)).body).not.toEqual(before)
      expect((await ask(sim, `${paths.sessions}/${other}/messages`)).body.pagination).toEqual({ hasMore: false })
    },
  )
})

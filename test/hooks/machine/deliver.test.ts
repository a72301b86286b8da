import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookLimits } from '../../../lib/hooks/hook-event.ts'
import { type DeliverDeps, deliverSpool } from '../../../lib/hooks/machine/deliver.ts'
import { eventOf } from '../../../lib/hooks/machine/event.ts'
import { createJournal } from '../../../lib/hooks/machine/journal.ts'
import { createLock } from '../../../lib/hooks/machine/lock.ts'
import { placeOf } from '../../../lib/hooks/machine/place.ts'
import { createPost } from '../../../lib/hooks/machine/post.ts'
import { createSpool } from '../../../lib/hooks/machine/spool.ts'
import { temporaryFolder } from '../../cli/cli.ts'
import { type Collector, receipt, startCollector, token } from './collector.ts'

let folder: ReturnType<typeof temporaryFolder>
let collector: Collector
let deps: DeliverDeps

beforeEach(async () => {
  folder = temporaryFolder()
  collector = await startCollector()
  deps = depsFor(collector.address)
})
afterEach(async () => {
  await collector.close()
  folder.remove()
})

function depsFor(address: string, withToken = token): DeliverDeps {
  const place = placeOf(folder.path)
  return {
    spool: createSpool(place.spool, { onBroken: () => {} }),
    journal: createJournal(place, { secret: withToken }),
    lock: createLock(place.lock),
    post: createPost({ address, token: withToken }),
    now: Date.now,
    deadlineUnixMs: Date.now() + 60_000,
  }
}

/** Puts events into the spool; returns their ids in order. */
function keep(count: number, more = ''): string[] {
  return Array.from({ length: count }, (_, at) => {
    const event = eventOf(JSON.stringify({ hook_event_name: 'Stop', more }), {
      unixMs: 1_700_000_000_000 + at,
      host: 'h',
    })
    if (typeof event === 'string') throw new Error(event)
    deps.spool.add(event)
    return event.id
  })
}

function waiting(): string[] {
  return deps.spool.list().map(({ id }) => id)
}

function written(): string {
  const { log, state } = placeOf(folder.path)
  return readFileSync(log, 'utf8') + readFileSync(state, 'utf8')
}

describe('a delivery', () => {
  it('sends many events in bodies that the collector takes, in order, each once', async () => {
    const ids = keep(150)
    expect(await deliverSpool(deps)).toEqual({ delivered: 150, refused: 0, problem: null })
    expect(collector.bodies.map((events) => events.length)).toEqual([100, 50])
    expect(collector.accepted.map(({ id }) => id)).toEqual(ids)
    expect(waiting()).toEqual([])
    expect(deps.journal.state()).toMatchObject({ delivered: 150, lastError: null, lastDeliveryAt: expect.any(String) })
  })

  it('goes past an event that a later version left, which stays, and tells it', async () => {
    const [first, last] = keep(2)
    const later = JSON.stringify({ version: 2, id: '3f2c8f5e-0000-4000-8000-000000000000' })
    const name = `1699999999999_3f2c8f5e-0000-4000-8000-000000000000_${later.length}.json`
    writeFileSync(join(placeOf(folder.path).spool, name), later)
    expect(await deliverSpool(deps)).toEqual({ delivered: 2, refused: 0, problem: null })
    expect(collector.accepted.map(({ id }) => id)).toEqual([first, last])
    expect(waiting()).toEqual(['3f2c8f5e-0000-4000-8000-000000000000'])
    expect(deps.journal.state().lastError?.message).toMatch(/later version of this software/)
  })

  it('keeps a body below the bytes that the collector takes', async () => {
    const bytes: number[] = []
    const { post } = deps
    deps.post = (body, timeoutMs) => {
      bytes.push(Buffer.byteLength(body))
      return post(body, timeoutMs)
    }
    keep(10, 'x'.repeat(60_000))
    expect(await deliverSpool(deps)).toMatchObject({ delivered: 10 })
    expect(bytes).toHaveLength(3)
    expect(Math.max(...bytes)).toBeLessThanOrEqual(hookLimits.bodyBytes)
  })

  it('forgets what the receipt names, accepted or refused, and keeps the rest for another time', async () => {
    const [a = '', b = '', c = ''] = keep(3)
    collector.answer = ([first]) => ({ status: 202, body: receipt(first ? [first] : [], [{ id: b, reason: 'odd' }]) })
    expect(await deliverSpool(deps)).toEqual({ delivered: 1, refused: 1, problem: null })
    expect(waiting()).toEqual([c])
    expect(collector.bodies.flat().map(({ id }) => id)).toEqual([a, b, c])
    expect(written()).toContain(`refuses event ${b}: odd`)
  })

  it.each([
    [401, /401: the token is not valid/],
    [429, /429: it takes no more/],
    [500, /answers 500/],
    [302, /answers 302/],
    [202, /202 without a receipt/],
    [101, /no answer: the connection ended/],
  ])('keeps all events when the answer is %i, and sends them no second time', async (status, message) => {
    const ids = keep(2)
    const headers = status === 101 ? { connection: 'Upgrade', upgrade: 'h2c' } : { location: 'http://127.0.0.1:1/' }
    collector.answer = () => ({ status, body: '{}', headers })
    expect(await deliverSpool(deps)).toMatchObject({ delivered: 0, problem: expect.stringMatching(message) })
    expect([waiting(), collector.bodies.length]).toEqual([ids, 1])
    expect(deps.journal.state().lastError?.message).toMatch(message)
  })

  it.each([400, 413])('finds the one event that is answered by %i, and delivers the others', async (status) => {
    const ids = keep(7)
    collector.answer = (events) => (events.some(({ id }) => id === ids[3]) ? { status } : undefined)
    expect(await deliverSpool(deps)).toEqual({ delivered: 6, refused: 0, problem: null })
    expect(waiting()).toEqual([ids[3]])
    expect(deps.journal.state().lastError?.message).toContain(ids[3])
  })

  it('knows until when the collector wants silence, at most 15 minutes', async () => {
    keep(1)
    collector.answer = () => ({ status: 429, headers: { 'retry-after': '60' } })
    await deliverSpool(deps)
    const seconds = (text: string | null) => (Date.parse(text ?? '') - Date.now()) / 1000
    expect(seconds(deps.journal.state().notBefore)).toBeGreaterThan(30)
    collector.answer = () => ({ status: 503, headers: { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' } })
    await deliverSpool(deps)
    expect(seconds(deps.journal.state().notBefore)).toBeLessThanOrEqual(900)
    collector.answer = () => undefined
    await deliverSpool(deps)
    expect(deps.journal.state().notBefore).toBeNull()
  })

  it('ends when its time is over, although the server is slow', async () => {
    const ids = keep(1)
    collector.answer = () => null
    deps.deadlineUnixMs = Date.now() + 400
    expect(await deliverSpool(deps)).toMatchObject({ problem: expect.stringMatching(/no answer within \d+ ms/) })
    expect(waiting()).toEqual(ids)
  })

  it('ends when its time is over, although the server sends bytes for ever', async () => {
    keep(1)
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 100000\r\n\r\n')
      const timer = setInterval(() => socket.write(' '), 10)
      socket.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const slow = { ...depsFor(`http://127.0.0.1:${port}`), deadlineUnixMs: Date.now() + 400 }
    expect(await deliverSpool(slow)).toMatchObject({ delivered: 0, problem: expect.any(String) })
    server.close()
  })

  it('sends an event again with its id when the process died between the receipt and its removal', async () => {
    const [id] = keep(1)
    const dies = {
      ...deps.spool,
      remove: () => {
        throw new Error('killed')
      },
    }
    await expect(deliverSpool({ ...deps, spool: dies })).rejects.toThrow('killed')
    expect(await deliverSpool(deps)).toMatchObject({ delivered: 1 })
    expect(collector.accepted.map((event) => event.id)).toEqual([id, id])
  })

  it('is one at a time: the second leaves its events to the first', async () => {
    const ids = keep(3)
    let late: string[] = []
    let second: unknown
    collector.answer = async () => {
      if (late.length === 0) {
        late = keep(2)
        second = await deliverSpool(depsFor(collector.address))
      }
      return undefined
    }
    expect(await deliverSpool(deps)).toMatchObject({ delivered: 5 })
    expect(second).toBeNull()
    expect(collector.accepted.map(({ id }) => id).sort()).toEqual([...ids, ...late].sort())
  })

  it('looks once more after it gave the lock back, for those who came while it had it', async () => {
    keep(1)
    const { lock } = deps
    let late: string[] = []
    deps.lock = {
      ...lock,
      take: (now) => {
        const release = lock.take(now)
        return (
          release &&
          (() => {
            if (late.length === 0) late = keep(1)
            release()
          })
        )
      },
    }
    expect(await deliverSpool(deps)).toMatchObject({ delivered: 2 })
  })

  it('sends all the same where the disk has no place for a lock', async () => {
    keep(1)
    writeFileSync(`${folder.path}/file`, '')
    expect(await deliverSpool({ ...deps, lock: createLock(`${folder.path}/file/lock`) })).toMatchObject({
      delivered: 1,
    })
  })

  it('lets the token into no log, even when the other side sends it back', async () => {
    const [id = ''] = keep(1)
    collector.answer = () => ({ status: 202, body: receipt([], [{ id, reason: `bad ${token}\nline` }]) })
    await deliverSpool(deps)
    expect(written()).toContain('bad [token] line')
    expect(written()).not.toContain(token)
  })
})

describe('the log', () => {
  it('stays small', () => {
    for (let at = 0; at < 1_000; at += 1) deps.journal.log('x'.repeat(1_000))
    const { log } = placeOf(folder.path)
    const bytes = readFileSync(log).length + readFileSync(`${log}.old`).length
    expect(bytes).toBeLessThan(140 * 1024)
  })
})

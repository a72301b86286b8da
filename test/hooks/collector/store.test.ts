import { describe, expect, it } from 'vitest'
import { RetryableError } from '../../../lib/core/errors.ts'
import { eventRecord } from '../../../lib/hooks/collector/event-record.ts'
import type { HookObjects } from '../../../lib/hooks/collector/ports.ts'
import { storeBatch } from '../../../lib/hooks/collector/store.ts'
import { hookEvents } from '../../../lib/streams/hook-events.ts'
import { createCollector, event, key, recordsIn } from './fixture.ts'

async function storedIds(objects: Parameters<typeof recordsIn>[0]) {
  return (await recordsIn(objects)).map(({ eventId }) => eventId).sort()
}

const outage = new RetryableError('S3 is out', { code: 'storage_unavailable' })

describe('a batch', () => {
  it('becomes one object of lines, under the time at which it is stored', async () => {
    const { clock, objects, send, store } = createCollector()
    const [first, second] = [event(), event({ hook_event_name: 'Reindexed', reason: 'why not', tool: { n: 1 } })]
    await send(first)
    await send(second)
    clock.advance(45_000)
    expect(await store()).toBe(0)
    expect([...objects.stored.keys()]).toEqual([
      expect.stringMatching(/^hooks\/dt=2026-05-06\/20260506T120045000Z-[0-9a-f-]+\.ndjson\.gz$/),
    ])
    const records = await recordsIn(objects)
    expect(records).toMatchObject([
      {
        eventId: first.id,
        eventName: 'Stop',
        sessionId: 'session-1',
        cwd: '/home/ana/acme-web',
        agentVersion: '1.4.2',
      },
      { eventId: second.id, eventName: 'Reindexed', reason: 'why not', tool: { n: 1 } },
    ])
    expect(records[0]).toMatchObject({
      occurredAt: '2026-05-06T11:59:58.000Z',
      receivedAt: '2026-05-06T12:00:00.000Z',
      storedAt: '2026-05-06T12:00:45.000Z',
    })
    for (const record of records) expect(hookEvents.schema.safeParse(record).error).toBeUndefined()
  })

  it('has no secret in what it writes, and the name of no machine', async () => {
    const { objects, send, store } = createCollector()
    const secret = 'ghp_x8Kq2mZt0aBcD3fG6hJ9'
    await send(event({ message: `May I fetch https://ana:${secret}@example.com/?api_key=${secret} ?`, apiKey: secret }))
    await store()
    const text = JSON.stringify(await recordsIn(objects))
    expect(text).not.toContain(secret)
    expect(text).not.toContain('laptop-of-ana')
    expect(text.match(/redacted:hmac-sha256:[0-9a-f]{16}/g)?.length).toBe(4)
    expect(text).toMatch(/"host":"hashed:hmac-sha256:[0-9a-f]{16}"/)
  })

  it('has a message that can not be read go back alone', async () => {
    const { queue, objects, send, store } = createCollector()
    const one = event()
    await send(one)
    queue.push({ messageId: 'odd', body: '{"events": []}' }, { messageId: 'none', body: undefined as never })
    expect(await store()).toBe(2)
    expect(queue.map(({ messageId }) => messageId)).toEqual(['odd', 'none'])
    expect(await storedIds(objects)).toEqual([one.id])
  })

  it('has a message of a later form go back alone, says why, and claims none of its events', async () => {
    const { queue, objects, send, store, storeDeps } = createCollector()
    const [one, other] = [event(), event()]
    await send(one)
    await send(other)
    const [, kept] = queue as [unknown, { body: string }]
    const { body } = kept
    kept.body = JSON.stringify({ ...JSON.parse(body), version: 2 })
    const said: unknown[] = []
    const log = { ...storeDeps.log, error: (_: string, fields?: object) => void said.push(fields) }
    expect(await store({ log })).toBe(1)
    expect(said).toMatchObject([{ reason: expect.stringMatching(/later version .*Deploy that version again/) }])
    expect(await storedIds(objects)).toEqual([one.id])
    // The version that knows its form finds it as it was.
    kept.body = body
    expect(await store()).toBe(0)
    expect(await storedIds(objects)).toEqual([one.id, other.id].sort())
  })

  it('has a message whose claims fail go back alone, and loses none of its events', async () => {
    const { claims, objects, send, store } = createCollector()
    const [good, bad] = [event(), Array.from({ length: 5 }, () => event())]
    await send(good)
    await send(...bad)
    const claim: typeof claims.claim = async (id, ...rest) => {
      if (id === bad[3]?.id) throw outage
      return claims.claim(id, ...rest)
    }
    expect(await store({ claims: { claim } })).toBe(1)
    expect(await storedIds(objects)).toEqual([good.id])
    // Some of its events were claimed for the object that the others are in, and are not there.
    expect(await store()).toBe(0)
    expect(await storedIds(objects)).toEqual([good, ...bad].map(({ id }) => id).sort())
  })

  it('goes back as a whole when the object can not be written', async () => {
    const { queue, objects, send, store, counts } = createCollector()
    await send(event())
    await send(event())
    expect(await store({ objects: { ...objects, write: () => Promise.reject(outage) } })).toBe(2)
    expect(queue).toHaveLength(2)
    expect(await store()).toBe(0)
    expect(await storedIds(objects)).toHaveLength(2)
    expect(counts.get('HookMessagesFailed')).toBe(2)
  })

  it('without the id of a message is refused, since it could not be named', async () => {
    const { storeDeps } = createCollector()
    await expect(storeBatch([{ body: '{}' }], storeDeps)).rejects.toThrow('no message id')
  })
})

describe('an event', () => {
  it('that a machine sends again, since it heard no answer, is stored once', async () => {
    const { clock, objects, send, store, counts } = createCollector()
    const one = event()
    await send(one)
    await send(one, event())
    await store()
    clock.advance(7 * 24 * 3_600_000)
    await send(one)
    expect(await store()).toBe(0)
    expect(await storedIds(objects)).toHaveLength(2)
    expect(counts.get('HookEventsRepeated')).toBe(2)
  })

  it('whose message comes twice is stored once, in one batch and in two', async () => {
    const { clock, queue, objects, send, store } = createCollector()
    await send(event(), event())
    const [message] = queue
    queue.push({ ...message!, messageId: 'copy' })
    expect(await store()).toBe(0)
    expect(queue).toEqual([])
    queue.push({ ...message!, messageId: 'late copy' })
    clock.advance(3_600_000)
    expect(await store()).toBe(0)
    expect(objects.stored.size).toBe(1)
    expect(await storedIds(objects)).toHaveLength(2)
  })

  it.each(['before its claim', 'before its object', 'after its object'])(
    'is stored once when the function is killed %s',
    async (when) => {
      const { clock, claims, objects, send, queue, storeDeps, store } = createCollector()
      const events = [event(), event(), event()]
      await send(...events)
      let calls = 0
      const killed = () => Promise.reject(new Error('killed'))
      const claim: typeof claims.claim = (...args) => {
        calls += 1
        return when === 'before its claim' && calls === 2 ? killed() : claims.claim(...args)
      }
      const write: HookObjects['write'] = async (...args) => {
        if (when === 'before its object') return killed()
        await objects.write(...args)
        return when === 'after its object' ? killed() : undefined
      }
      // A function that is killed answers nothing: its messages come again.
      await storeBatch(queue, { ...storeDeps, claims: { claim }, objects: { ...objects, write } })
      clock.advance(7 * 60_000)
      expect(await store()).toBe(0)
      expect(await storedIds(objects)).toEqual(events.map(({ id }) => id).sort())
    },
  )

  it('has its working directory and machine kept, hashed under the key, or dropped', () => {
    const times = { receivedAt: 'r', storedAt: 's' }
    const of = (cwd: 'kept' | 'hashed' | 'dropped', with_ = key) =>
      eventRecord(event(), times, { cwd, host: cwd, key: with_ })
    expect(of('kept')).toMatchObject({ cwd: '/home/ana/acme-web', host: 'laptop-of-ana' })
    expect(of('dropped')).toMatchObject({ cwd: null, host: null })
    const hashed = of('hashed')
    expect(hashed.cwd).toMatch(/^hashed:hmac-sha256:[0-9a-f]{16}$/)
    expect(of('hashed')).toEqual({ ...hashed, eventId: expect.any(String) })
    expect(of('hashed', 'another key').cwd).not.toBe(hashed.cwd)
    const alike = eventRecord(event({ cwd: 'x' }, { host: 'x' }), times, { cwd: 'hashed', host: 'hashed', key })
    expect(alike.cwd).not.toBe(alike.host)
    const list = eventRecord(event({ cwd: ['/home/ana'] }), times, { cwd: 'hashed', host: 'hashed', key })
    expect(list.cwd).toMatch(/^hashed:hmac-sha256:[0-9a-f]{16}$/)
  })

  it('keeps what the agent says under a name that is ours, too', () => {
    const given = event({ eventId: 'theirs', host: 'theirs', transcript_path: '/t' })
    const record = eventRecord(given, { receivedAt: 'r', storedAt: 's' }, { cwd: 'kept', host: 'kept', key })
    expect(record).toMatchObject({
      eventId: given.id,
      host: 'laptop-of-ana',
      input_eventId: 'theirs',
      input_host: 'theirs',
      transcript_path: '/t',
    })
  })
})

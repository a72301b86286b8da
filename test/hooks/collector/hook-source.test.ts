import { beforeEach, describe, expect, it } from 'vitest'
import { createHookSource } from '../../../lib/hooks/collector/hook-source.ts'
import { packLines } from '../../../lib/hooks/collector/lines.ts'
import { placeOf } from '../../../lib/hooks/collector/places.ts'
import { hookEvents } from '../../../lib/streams/hook-events.ts'
import { syncStream } from '../../../lib/sync/sync-stream.ts'
import { mortal } from '../../sync/support/mortal.ts'
import { createWorld, type World } from '../../sync/support/world.ts'
import { createCollector, event } from './fixture.ts'

const minute = 60_000

let world: World
let collector: ReturnType<typeof createCollector>
beforeEach(() => {
  world = createWorld({ settings: { flushRecords: 10 } })
  collector = createCollector()
})

/** Lets time pass for both: they go by one clock. */
function pass(ms: number) {
  world.clock.advance(ms)
  collector.clock.advance(world.clock.now() - collector.clock.now())
}

/** Events that machines sent, as objects in the lake bucket. */
async function collect(count: number) {
  const events = Array.from({ length: count }, () => event())
  await collector.send(...events)
  await collector.store()
  return events
}

async function scan(more: Parameters<World['sync']>[2] = {}) {
  const result = await world.sync(hookEvents, createHookSource(collector.objects), more)
  collector.clock.advance(world.clock.now() - collector.clock.now())
  return result
}

async function publishedIds() {
  await world.publish([hookEvents])
  return world.lake
    .publishedRows('hook_events')
    .map(({ event_id }) => event_id)
    .toSorted()
}

describe('events on their way to the lake', () => {
  it('appear with the next run, and those of later days with the run after it', async () => {
    const first = await collect(3)
    pass(20 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 3, inserted: 3 } })
    expect(await publishedIds()).toEqual(first.map(({ id }) => id).toSorted())

    pass(24 * 60 * minute)
    const second = await collect(2)
    pass(20 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 2, inserted: 2 } })
    expect(await publishedIds()).toEqual([...first, ...second].map(({ id }) => id).toSorted())
    pass(24 * 60 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 0 } })
  })

  it('have their fields as columns, and what we do not know in _extra', async () => {
    await collector.send(event({ hook_event_name: 'Reindexed', reason: 'odd', message: 'm', tool: { n: 1 } }))
    await collector.store()
    pass(20 * minute)
    expect(await scan()).toMatchObject({ counts: { inserted: 1, quarantined: 0, drifted: 1 } })
    await world.publish([hookEvents])
    const [row] = world.lake.publishedRows('hook_events')
    expect(row).toMatchObject({ event_name: 'Reindexed', reason: 'odd', message: 'm', session_id: 'session-1' })
    expect(row).toMatchObject({ occurred_at: Date.UTC(2026, 4, 6, 11, 59, 58), received_at: Date.UTC(2026, 4, 6, 12) })
    expect(JSON.parse(String(row?._extra))).toEqual({ tool: { n: 1 } })
  })

  it('keep what the agent says in another form than a text, and lose only its column', async () => {
    const odd = { session_id: 7, cwd: ['/home/ana'], message: { title: 'May I?' }, reason: true }
    await collector.send(event(odd), event({ session_id: null }))
    await collector.store()
    pass(20 * minute)
    expect(await scan()).toMatchObject({ counts: { inserted: 2, quarantined: 0, invalid: { message: 1 } } })
    await world.publish([hookEvents])
    const row = world.lake.publishedRows('hook_events').find(({ _invalid }) => _invalid !== null)
    expect(row).toMatchObject({ event_name: 'Stop', session_id: null, cwd: null, message: null, reason: null })
    const told = JSON.parse(String(row?._invalid)) as { field: string; value: unknown }[]
    expect(Object.fromEntries(told.map(({ field, value }) => [field, value]))).toEqual({
      sessionId: 7,
      cwd: ['/home/ana'],
      message: { title: 'May I?' },
      reason: true,
    })
  })

  it('come once, though each scan reads the last minutes before it again', async () => {
    const events = []
    for (let night = 0; night < 4; night++) {
      events.push(...(await collect(25)))
      pass(5 * minute)
      await scan()
      events.push(...(await collect(5)))
      // A machine that heard no answer.
      await collector.send(...events.slice(-5))
      await collector.store()
      pass(3 * minute)
    }
    pass(60 * minute)
    await scan()
    const ids = await publishedIds()
    expect(ids.toSorted()).toEqual(events.map(({ id }) => id).toSorted())
  })

  it('are not missed when they become visible only after a scan that began after their time', async () => {
    const late = event()
    await collector.send(late)
    const { write } = collector.objects
    const [started, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow: typeof write = async (...args) => {
      started.resolve()
      await finished.promise
      return write(...args)
    }
    const storing = collector.store({ objects: { ...collector.objects, write: slow } })
    await started.promise
    // A run of its own begins an hour later.
    world.clock.advance(minute - 60 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 0 } })
    finished.resolve()
    await storing
    expect(await scan()).toMatchObject({ status: 'complete', counts: { inserted: 1 } })
    expect(await publishedIds()).toEqual([late.id])
  })

  it('are read in pages that end between objects, whatever else lies in the folder', async () => {
    const { objects } = collector
    const at = collector.clock.now()
    const time = new Date(at).toISOString()
    const times = { occurredAt: time, receivedAt: time, storedAt: time }
    const record = (n: number) => ({ eventId: `e${n}`, eventName: 'Stop', ...times })
    for (let n = 0; n < 450; n++) {
      const records = Array.from({ length: n === 7 ? 5_000 : 2 }, (_, i) => record(n * 10_000 + i))
      await objects.write(placeOf(at + n, `id-${n}`), await packLines(records))
    }
    await objects.write('hooks/README', Buffer.from('by hand'))
    await objects.write(`${placeOf(at + 3, 'copy')}.tmp`, Buffer.from('by hand'))
    pass(20 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 5_000 + 449 * 2, duplicate: 0 } })
  })

  it('that two functions stored, which had one message at once, come once, whichever scan sees the second', async () => {
    const storeAgain = async () => {
      const storedAt = new Date(collector.clock.now()).toISOString()
      const times = { occurredAt: storedAt, receivedAt: storedAt, storedAt }
      const lines = await packLines([{ eventId: 'e1', eventName: 'Stop', ...times }])
      await collector.objects.write(placeOf(collector.clock.now(), 'one'), lines)
    }
    // Each run begins an hour after the one before it.
    const scanIn = (ms: number) => {
      pass(ms - 60 * minute)
      return scan()
    }
    pass(0)
    await storeAgain()
    expect(await scanIn(minute)).toMatchObject({ counts: { received: 1, inserted: 1 } })
    pass(7 * minute)
    await storeAgain()
    expect(await scanIn(minute)).toMatchObject({ counts: { received: 2, updated: 0, unchanged: 1, duplicate: 1 } })
    // Now the index forgets what was stored with the first copy, which is read for the last time.
    expect(await scanIn(7 * minute)).toMatchObject({ counts: { received: 2, inserted: 0 } })
    expect(await scanIn(minute)).toMatchObject({ counts: { received: 1, inserted: 0 } })
    expect(await publishedIds()).toEqual(['e1'])
  })

  it('that are no events cost only themselves', async () => {
    const { objects } = collector
    await collect(1)
    const lines = await packLines(['text', { eventId: 'e1', eventName: 7 }, { eventName: 'Stop' }])
    await objects.write(placeOf(collector.clock.now(), 'odd'), lines)
    pass(20 * minute)
    expect(await scan()).toMatchObject({ status: 'complete', counts: { received: 4, inserted: 2, quarantined: 2 } })
  })

  it('in an object that can not be unpacked stop the stream, with its name', async () => {
    const key = placeOf(collector.clock.now(), 'damaged')
    await collector.objects.write(key, Buffer.from('no gzip'))
    pass(20 * minute)
    const result = await scan()
    expect(result).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(result)).toContain(key)
  })

  it('are all there, each once, when the worker is killed before or after any of its calls', async () => {
    let calls = 0
    for (let call = 1; ; call++) {
      world = createWorld({ settings: { flushRecords: 10 } })
      collector = createCollector()
      const events = [...(await collect(15)), ...(await collect(15))]
      pass(20 * minute)
      const source = createHookSource(collector.objects)
      const run = world.newRun()
      const dies = call % 2 === 0 ? 'dies before' : 'dies after'
      const { deps, isDead } = mortal(world.deps(source), { call, what: dies })
      await syncStream(hookEvents, run, deps).catch(() => {})
      if (!isDead()) break
      calls += 1
      pass(10 * minute)
      await scan({ runId: run.runId })
      pass(60 * minute)
      await scan()
      expect([call, (await publishedIds()).toSorted()]).toEqual([call, events.map(({ id }) => id).toSorted()])
    }
    expect(calls).toBeGreaterThan(8)
  })
})

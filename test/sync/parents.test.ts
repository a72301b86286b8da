import { describe, expect, it } from 'vitest'
import { FatalError, RejectedError, RetryableError } from '../../lib/core/errors.ts'
import { parseJson } from '../../lib/core/json.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Conversations, message, refusing } from './support/conversations.ts'
import { begin } from './support/nights.ts'

describe('lists per parent', () => {
  it('are not read before the parents were read whole', async () => {
    const { readMessages, readSessions, platform } = begin({ a: 1 })
    expect(await readMessages()).toMatchObject({
      status: 'skipped',
      reason: 'sessions was never read whole: its lists are read once it was',
    })
    expect(platform.takeAsked()).toEqual([])
    await readSessions()
    expect(await readMessages()).toMatchObject({ status: 'complete', counts: { inserted: 1 } })
  })

  it('are read whole, each record under its parent', async () => {
    const { platform, world, night, live } = begin({ a: 7, 'b/%2F': 0, 'c/d': 2 })
    const { status, counts } = await night()
    expect({ status, counts }).toMatchObject({ status: 'complete', counts: { inserted: 9, pages: 5 } })
    expect(live()).toEqual([...platform.keys().filter((key) => key.startsWith('a')), 'c%2Fd/m0', 'c%2Fd/m1'])
    await world.publish([sessionMessages])
    const row = world.current(sessionMessages).get('c%2Fd/m1')
    expect(row).toMatchObject({ session_id: 'c/d', message_id: 'm1', text: 'm1' })
  })

  it('ask for nothing, and look at no record, in a night in which no parent changed', async () => {
    const { platform, world, night, readMessages } = begin({ a: 4, b: 2 })
    await night()
    platform.takeAsked()
    const bodies = () => Promise.reject(new Error('a record was read'))
    await world.sync(sessions, platform.source)
    const result = await readMessages({ records: { ...world.records, bodies } })
    expect(result).toMatchObject({ status: 'complete', counts: { received: 0, apiCalls: 0 } })
    expect(platform.takeAsked()).toEqual([])
  })

  it('are read again only where time or number changed, and a parent that changed otherwise is looked at once', async () => {
    const { platform, world, night, readMessages, live } = begin({ a: 4, b: 2, c: 1 })
    await night()
    platform.takeAsked()
    platform.retitle('a', 'another title')
    platform.talk('b', 3)
    let read = 0
    await world.sync(sessions, platform.source)
    const bodies: typeof world.records.bodies = (wanted) => {
      read += wanted.keys.length
      return world.records.bodies(wanted)
    }
    const records = { ...world.records, bodies }
    expect(await readMessages({ records })).toMatchObject({
      counts: { received: 3, inserted: 1, updated: 2, deleted: 0 },
    })
    expect(platform.takeAsked()).toEqual(['b'])
    expect([read, live()]).toEqual([2, platform.keys()])
    platform.talk('d', 1)
    await world.sync(sessions, platform.source)
    await readMessages({ records })
    expect([read, platform.takeAsked()]).toEqual([3, ['d']])
  })

  it('lose what they show no more, and all of what belonged to a parent that is gone; nothing else', async () => {
    const { platform, world, night, live } = begin({ a: 5, b: 30, c: 2 })
    await night()
    platform.change('a', (messages) => messages.slice(1))
    platform.end('b')
    const { status, counts } = await night()
    // Most of what is known goes, with a parent whose own scan has judged that it may.
    expect({ status, counts }).toMatchObject({ status: 'complete', counts: { deleted: 31 } })
    expect(live()).toEqual(platform.keys())
    await world.publish([sessionMessages])
    expect([...world.current(sessionMessages).keys()].sort()).toEqual(platform.keys())
    platform.talk('b', 1)
    expect(await night()).toMatchObject({ counts: { received: 1, inserted: 1 } })
  })

  it('keep what a suspect scan missed until it is approved or seen, though nobody reads the list again', async () => {
    const { platform, world, night, live } = begin({ a: 30, b: 3 })
    await night()
    platform.change('a', () => [message('m0')])
    expect(await night()).toMatchObject({ status: 'suspect', reason: expect.stringContaining('29 of 33') })
    platform.takeAsked()
    expect(await night()).toMatchObject({ status: 'suspect' })
    expect(platform.takeAsked()).toEqual([])
    expect(live()).toHaveLength(33)
    const { approveDeletes } = await import('../../lib/sync/approve.ts')
    expect(await approveDeletes(sessionMessages, world.newRun(), world.deps(platform.source))).toMatchObject({
      counts: { deleted: 29 },
    })
    expect(live()).toEqual(platform.keys())
    expect(await night()).toMatchObject({ status: 'complete', counts: { received: 0 } })
  })

  it('begin anew, one by one, where a cursor is refused, and then miss what went meanwhile', async () => {
    const { platform, night, live } = begin({ a: 1, b: 8, c: 4 })
    let refused = false
    platform.beforeEach(({ session, cursor }) => {
      if (session !== 'b' || cursor !== '3' || refused) return
      refused = true
      platform.change('b', (messages) => messages.slice(2), { silently: true })
      throw new RejectedError('400', { code: 'bad_request', status: 400 })
    })
    const { status, counts } = await night()
    expect({ status, counts }).toMatchObject({ status: 'complete', counts: { deleted: 2 } })
    expect(platform.takeAsked()).toEqual(['a', 'b', 'b@3', 'b', 'b@3', 'c', 'c@3'])
    expect(live()).toEqual(platform.keys())
  })

  it.each([
    ['it is forbidden', new FatalError('403', { code: 'forbidden', status: 403 })],
    ['it is not found', new RejectedError('404', { code: 'not_found', status: 404 })],
    ['the platform fails at it', new RetryableError('500', { code: 'server_error', status: 500 })],
    ['it takes too long even in the smallest pages', new RetryableError('timeout', { code: 'timeout' })],
  ])('cost one list only where %s, and that one is read the next time', async (_, error) => {
    const { platform, night, live } = begin({ a: 2, b: 2, c: 2 })
    await night()
    for (const id of ['a', 'b', 'c']) platform.change(id, (messages) => messages.slice(1))
    platform.beforeEach(refusing('b', error))
    const result = await night()
    expect(result).toMatchObject({ status: 'complete', counts: { deleted: 2 } })
    expect(result.notices).toMatchObject([
      { code: 'lists_unread', about: expect.stringContaining(`b (${error.code})`) },
    ])
    expect(live()).toEqual(['a/m1', 'b/m0', 'b/m1', 'c/m1'])
    platform.beforeEach(() => {})
    platform.takeAsked()
    expect(await night()).toMatchObject({ status: 'complete', notices: [], counts: { deleted: 1 } })
    expect(platform.takeAsked()).toEqual(['b'])
  })

  it('cost one list only where it goes round in circles', async () => {
    const { platform, world, readSessions, live } = begin({ a: 1, b: 4, c: 1 })
    await readSessions()
    const { fetchPage } = platform.source
    const source: Conversations['source'] = {
      fetchPage: async (...asked) => {
        const page = await fetchPage(...asked)
        return asked[2].parent === 'b' ? { ...page, nextToken: '3' } : page
      },
    }
    const result = await world.sync(sessionMessages, source)
    expect(result).toMatchObject({ status: 'complete', notices: [{ code: 'lists_unread' }] })
    expect(live()).toEqual(platform.keys())
  })

  it.each([
    ['a number beyond what a double holds', '12345678901234567890'],
    ['a number', '7'],
    ['an object that names its own conversions', '{"toString":1,"valueOf":2}'],
    ['a list', '[["m0"]]'],
  ])('lose only the record whose id is %s', async (_name, id) => {
    const { platform, world, readSessions, live } = begin({ a: 2, b: 1 })
    await readSessions()
    const { fetchPage } = platform.source
    const odd = parseJson(`{"id":${id},"role":"user"}`)
    const source: Conversations['source'] = {
      fetchPage: async (...asked) => {
        const page = await fetchPage(...asked)
        return asked[2].parent === 'a' ? { ...page, records: [odd, ...page.records] } : page
      },
    }
    const { status, counts } = await world.sync(sessionMessages, source)
    expect({ status, counts }).toMatchObject({ status: 'complete', counts: { inserted: 3, quarantined: 1 } })
    expect(live()).toEqual(platform.keys())
  })

  it('stop when one after another can not be read: that is not the fault of a list', async () => {
    const { platform, readSessions, readMessages } = begin(
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`s${n}`, 1])),
    )
    await readSessions()
    platform.beforeEach(() => {
      throw new FatalError('403', { code: 'forbidden', status: 403 })
    })
    expect(await readMessages()).toMatchObject({ status: 'skipped', reason: expect.stringContaining('one list after') })
    expect(platform.takeAsked()).toHaveLength(10)
    platform.beforeEach(() => {
      throw new RetryableError('500', { code: 'server_error', status: 500 })
    })
    expect(await readMessages()).toMatchObject({ status: 'failed' })
    expect(platform.takeAsked()).toHaveLength(5)
  })

  it('tell where a list has another number of records than its parent says, unless it changed meanwhile', async () => {
    const { platform, night } = begin({ a: 2, b: 2, c: 2 })
    platform.claim('b', 5)
    platform.claim('c', 1)
    platform.change('c', (messages) => [...messages.slice(1), message('new', { updatedAt: platform.now() + 60_000 })])
    const { notices } = await night()
    expect(notices).toMatchObject([{ code: 'lists_miscounted', about: expect.stringMatching(/the lists of b have/) }])
  })
})

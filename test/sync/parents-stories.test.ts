import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { FatalError, RejectedError, RetryableError } from '../../lib/core/errors.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'
import { told } from '../support/stories.ts'
import { type Conversations, createConversations, message, type Text } from './support/conversations.ts'
import { mortal, type Trouble } from './support/mortal.ts'
import { createWorld, type World } from './support/world.ts'

const leaseMs = 60_000

const happening = fc.record({
  what: fc.constantFrom('add', 'remove', 'remove', 'restore', 'edit', 'move', 'retitle', 'begin', 'end', 'revive'),
  pick: fc.nat(9),
  at: fc.nat(9),
})
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

const event = fc.record({
  request: fc.integer({ min: 1, max: 12 }),
  happening: fc.option(happening, { freq: 3 }),
  fault: fc.option(fc.constantFrom('forbidden', 'refused', 'server_error', 'wait'), { freq: 2 }),
})
const attempt = fc.record({
  trouble: fc.option(
    fc.record({
      call: fc.integer({ min: 1, max: 25 }),
      what: fc.constantFrom<Trouble['what'][]>('dies before', 'dies after', 'fails before', 'fails after'),
    }),
    { freq: 3 },
  ),
  pages: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 3 }),
  /** Whether the sessions are read again before this attempt goes on. */
  sessionsFirst: fc.boolean(),
})
const night = fc.record({
  indexLost: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  before: fc.array(happening, { maxLength: 8 }),
  events: fc.array(event, { maxLength: 5 }),
  attempts: fc.array(attempt, { maxLength: 5 }),
})
type Night = typeof night extends fc.Arbitrary<infer T> ? T : never

const story = fc.record({
  sizes: fc.array(fc.nat(10), { maxLength: 6 }),
  flushRecords: fc.integer({ min: 1, max: 12 }),
  nights: fc.array(night, { minLength: 1, maxLength: 4 }),
})

let versions = 0
const removed = new Map<string, Text>()

function happen(platform: Conversations, { what, pick, at }: Happening): void {
  const ids = platform.ids()
  const id = ids[pick % ids.length]
  if (what === 'begin' || id === undefined) platform.talk(`s${pick}`, at)
  else if (what === 'end') platform.end(id)
  else if (what === 'revive') platform.revive()
  else if (what === 'retitle') platform.retitle(id, `v${versions++}`)
  else platform.change(id, (messages) => changed(messages, { what, at, id }))
}

function changed(messages: Text[], { what, at, id }: Pick<Happening, 'what' | 'at'> & { id: string }): Text[] {
  const n = at % Math.max(1, messages.length)
  const [found] = messages.slice(n, n + 1)
  if (what === 'remove') {
    if (found) removed.set(id, found)
    return messages.toSpliced(n, 1)
  }
  const back = what === 'restore' && removed.get(id)
  if (back && messages.every((each) => each.id !== back.id)) return [...messages, back]
  if (what === 'add' || !found) return [...messages, message(`n${versions++}`)]
  if (what === 'move') return [...messages.toSpliced(n, 1), found]
  return messages.with(n, { ...found, parentId: `v${versions++}` })
}

function strike(platform: Conversations, events: Night['events']): void {
  let requests = 0
  platform.beforeEach(({ cursor }) => {
    requests += 1
    for (const { request, happening, fault } of events) {
      if (request !== requests) continue
      if (happening) happen(platform, happening)
      if (fault === 'forbidden') throw new FatalError('403', { code: 'forbidden', status: 403 })
      if (fault === 'server_error') throw new RetryableError('500', { code: 'server_error', status: 500 })
      if (fault === 'wait') throw new RetryableError('429', { code: 'rate_limited', retryAfterMs: 90_000 })
      if (fault === 'refused' && cursor !== null) throw new RejectedError('400', { code: 'bad_request', status: 400 })
    }
  })
}

/** A night's scan of messages, over as many attempts as it takes. */
async function readMessages(world: World, platform: Conversations, attempts: Night['attempts']): Promise<StreamResult> {
  const run = world.newRun()
  for (let n = 0; n < 25; n++) {
    const { trouble, pages, sessionsFirst } = attempts[n] ?? { trouble: null, pages: null, sessionsFirst: false }
    if (sessionsFirst) await world.sync(sessions, platform.source)
    let looks = 0
    const deadline = { remainingMs: () => (pages !== null && ++looks > pages ? 0 : Number.POSITIVE_INFINITY) }
    const { deps, isDead } = mortal(world.deps(platform.source, { deadline }), trouble)
    try {
      const result = await syncStream(sessionMessages, run, deps)
      if (result.status === 'complete' || result.status === 'suspect') return result
      world.clock.advance(result.retryAfterMs ?? 0)
    } catch (error) {
      if (!isDead() && !(error instanceof RetryableError)) throw error
    }
    world.clock.advance(leaseMs + 1)
  }
  throw new Error('the scan does not come to an end')
}

async function readSessions(world: World, platform: Conversations) {
  const { status } = await world.sync(sessions, platform.source)
  if (status === 'suspect') await approveDeletes(sessions, world.newRun(), world.deps(platform.source))
}

function checkCounts({ counts }: StreamResult) {
  const { received, inserted, updated, unchanged, duplicate, quarantined } = counts!
  expect(inserted + updated + unchanged + duplicate + quarantined).toBe(received)
}

async function checkSettled(world: World, platform: Conversations) {
  await world.publish([sessionMessages])
  const current = world.current(sessionMessages)
  expect([...current.keys()].sort()).toEqual(platform.keys())
  expect(world.live(sessionMessages).sort()).toEqual(platform.keys())
  for (const [key, record] of platform.records()) {
    const stored = world.records.all(sessionMessages.name).get(key)!
    expect(stored.body).toBe(canonicalJson(record))
    expect(current.get(key)?._hash).toBe(stored.hash)
  }
}

const undisturbed: Night = { indexLost: false, before: [], events: [], attempts: [] }

/** An attempt that died while it deleted; the next one begins a list once more, which is refused before its end. */
const begunOnceMore = {
  sizes: [8, 0, 3],
  flushRecords: 2,
  nights: [
    undisturbed,
    {
      indexLost: false,
      before: [
        { what: 'remove', pick: 0, at: 0 },
        { what: 'add', pick: 8, at: 0 },
      ],
      events: [{ request: 7, happening: null, fault: 'forbidden' }],
      attempts: [
        { trouble: null, pages: 4, sessionsFirst: false },
        { trouble: { call: 18, what: 'fails after' }, pages: null, sessionsFirst: false },
      ],
    },
  ],
} satisfies typeof story extends fc.Arbitrary<infer T> ? T : never

it('whatever happens, every message is accounted for, and all stores end up as the platform is', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ sizes, flushRecords, nights }) => {
      const world = createWorld({ settings: { flushRecords, leaseMs } })
      const platform = createConversations()
      removed.clear()
      for (const [n, size] of sizes.entries()) platform.talk(`s${n}`, size)
      for (const { before, events, attempts, indexLost } of nights) {
        for (const each of before) happen(platform, each)
        if (indexLost) await world.checkpoints.reset(sessionMessages.name, { index: true, now: world.clock.now() })
        await readSessions(world, platform)
        strike(platform, events)
        checkCounts(await readMessages(world, platform, attempts))
      }
      platform.beforeEach(() => {})
      await readSessions(world, platform)
      checkCounts(await readMessages(world, platform, []))
      const { lastScan } = (await world.checkpoints.read(sessionMessages.name))!
      if ((lastScan?.withheldDeletes ?? 0) > 0) {
        await approveDeletes(sessionMessages, world.newRun(), world.deps(platform.source))
      }
      await checkSettled(world, platform)
      platform.takeAsked()
      await readSessions(world, platform)
      await world.sync(sessionMessages, platform.source)
      expect(platform.takeAsked()).toEqual([])
    }),
    { ...told(40), examples: [[begunOnceMore]] },
  )
})

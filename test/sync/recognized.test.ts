import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import type { CutRecord } from '../../lib/platform/cut.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { decodeIndex } from '../../lib/sync/index-format.ts'
import type { Source } from '../../lib/sync/ports.ts'
import { chunks, cutPage, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

/** A list of users that comes as bytes; `read` holds the records that had to be read. */
function byteSource(records: Json[], { turned = false } = {}) {
  const read: (Json | undefined)[] = []
  const pages = chunks(records, 3)
  const source: Source = {
    fetchPage: async (_stream, token, { recognizer }) => {
      const at = Number(token ?? 0)
      const body = { records: pages[at] ?? [], nextToken: at + 1 < pages.length ? `${at + 1}` : null }
      const page = cutPage(body, recognizer, { turned })
      read.push(...(page.cut ?? []).filter((record: CutRecord) => record.known < 0).map(({ json }) => json))
      return page
    },
  }
  return { source, read }
}

type Overrides = Parameters<ReturnType<typeof createWorld>['deps']>[1]

async function synced(
  world: ReturnType<typeof createWorld>,
  records: Json[],
  more: Overrides & { turned?: boolean } = {},
) {
  const { turned = false, ...overrides } = more
  const { source, read } = byteSource(records, { turned })
  const { counts } = await world.sync(organizationUsers, source, overrides)
  return { read: read.length, counts }
}

describe('a record whose bytes are known', () => {
  it('is counted as unchanged and not read', async () => {
    const world = createWorld()
    expect((await synced(world, users(8))).read).toBe(8)
    const again = await synced(world, users(8))
    expect(again.read).toBe(0)
    expect(again.counts).toMatchObject({ received: 8, unchanged: 8, inserted: 0, updated: 0, duplicate: 0 })
  })

  it('is a duplicate when it comes twice in a scan', async () => {
    const world = createWorld()
    await synced(world, users(8))
    const again = await synced(world, [...users(8), user(2)])
    expect([again.read, again.counts?.duplicate]).toEqual([0, 1])
  })

  it('is told from one that changed, and from an older copy of itself in the same scan', async () => {
    const world = createWorld()
    await synced(world, users(8))
    const changed = users(8).with(3, user(3, { firstName: 'other' }))
    const second = await synced(world, changed)
    expect(second).toMatchObject({ read: 1, counts: { updated: 1, unchanged: 7 } })
    // The copy that came last stands: without times of change nothing says which is older.
    const third = await synced(world, [...changed, user(3)])
    expect(third).toMatchObject({ read: 1, counts: { duplicate: 1, updated: 1, unchanged: 7 } })
    expect(await synced(world, users(8))).toMatchObject({ read: 0, counts: { unchanged: 8 } })
  })

  it('is read once more when just the order of its keys differs, and then known in that form', async () => {
    const world = createWorld()
    await synced(world, users(8))
    const turned = await synced(world, users(8), { turned: true })
    expect(turned).toMatchObject({ read: 8, counts: { unchanged: 8, updated: 0 } })
    expect((await synced(world, users(8), { turned: true })).read).toBe(0)
    expect((await synced(world, users(8))).read).toBe(8)
  })

  it('is read once more under another key for redaction', async () => {
    const world = createWorld()
    await synced(world, users(8))
    const digestKey = (purpose: string) => Buffer.from(`other ${purpose}`)
    expect(await synced(world, users(8), { digestKey })).toMatchObject({ read: 8, counts: { unchanged: 8 } })
    expect((await synced(world, users(8), { digestKey })).read).toBe(0)
  })

  it('is read each time while it is odd or must be repaired, since both are counted', async () => {
    const world = createWorld()
    const records = [user(0), user(1, { firstName: 7 }), user(2, { firstName: 'half \ud83d' }), user(3)]
    await synced(world, records)
    const again = await synced(world, records)
    expect(again).toMatchObject({ read: 2, counts: { unchanged: 4, invalid: { firstName: 1 }, repaired: 1 } })
  })

  it('is read each time by a stream whose observer is to see all', async () => {
    const world = createWorld()
    const flushed: string[] = []
    const observer = {
      flushed: async (records: readonly { hash: string }[]) => void flushed.push(...records.map(({ hash }) => hash)),
      completed: async () => ({ notices: [], acknowledge: async () => {} }),
    }
    const observers = { [organizationUsers.name]: observer }
    for (let n = 0; n < 2; n++) await synced(world, users(4), { observers })
    expect(flushed).toHaveLength(8)
  })
})

describe('what a scan saw as the index has it', () => {
  const settings = { flushRecords: 3 }

  it('is three numbers in a part for a whole run of keys, and counts when another attempt goes on', async () => {
    const world = createWorld({ settings })
    await synced(world, users(9))
    const { runId } = world.newRun()
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 2 ? 0 : Number.POSITIVE_INFINITY) }
    const { source } = byteSource(users(9))
    const paused = await world.sync(organizationUsers, source, { runId, deadline })
    expect(paused).toMatchObject({ status: 'paused' })
    const part = (await world.index.listParts(organizationUsers.name)).find(({ fence }) => fence === 2)
    const { header, entries } = decodeIndex((await world.index.readIndex(part?.key ?? ''))!)
    expect([[...entries], header.same]).toEqual([[], [[0, 6, 1]]])
    const result = await world.sync(organizationUsers, byteSource(users(9)).source, { runId })
    expect(result).toMatchObject({ status: 'complete', counts: { received: 9, unchanged: 9, deleted: 0 } })
  })

  it('waits longer to be written than what must be read', async () => {
    const world = createWorld({ settings })
    const partsOf = async (records: Json[]) => {
      const { runId } = world.newRun()
      await world.sync(organizationUsers, byteSource(records).source, { runId })
      return (await world.index.listParts(organizationUsers.name)).filter(({ scanId }) => scanId.startsWith(runId))
    }
    expect(await partsOf(users(60))).toHaveLength(20)
    expect(await partsOf(users(60))).toHaveLength(2)
  })

  it('means nothing beside another index: the scan begins anew', async () => {
    const world = createWorld({ settings })
    await synced(world, users(9))
    const { runId } = world.newRun()
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 2 ? 0 : Number.POSITIVE_INFINITY) }
    await world.sync(organizationUsers, byteSource(users(9)).source, { runId, deadline })
    const index = { ...world.index, openIndex: async () => null }
    const result = await world.sync(organizationUsers, byteSource(users(9)).source, { runId, index })
    expect(result).toMatchObject({ status: 'complete', counts: { received: 9, updated: 9, deleted: 0 } })
  })
})

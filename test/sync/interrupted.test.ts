import { describe, expect, it } from 'vitest'
import { FatalError } from '../../lib/core/errors.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import type { Checkpoints } from '../../lib/sync/ports.ts'
import { listOf, pagesOf, scripted, session, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

/** Dies with the first checkpoint that says something was flushed, and stays dead. */
function failingAfter(save: Checkpoints['save'], why: string): Checkpoints['save'] {
  let dead = false
  return async (checkpoint, lease) => {
    dead ||= (checkpoint.scan?.segments.length ?? 0) > 0 || checkpoint.status === 'failed'
    if (dead) throw new Error(why)
    await save(checkpoint, lease)
  }
}

describe('a scan that was reset', () => {
  it('leaves no file behind that no manifest lists', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const broken = scripted((token) => {
      if (token === null) return { records: users(2), nextToken: 'p1' }
      throw new FatalError('the API has changed', { code: 'unexpected_body' })
    })
    expect(await world.sync(organizationUsers, broken)).toMatchObject({ status: 'failed' })
    expect(world.lake.files.size).toBe(1)
    await world.checkpoints.reset(organizationUsers.name, { index: false, now: world.clock.now() })

    expect(await world.sync(organizationUsers, listOf(users(2)))).toMatchObject({ status: 'complete' })
    const { scans } = await world.publish([organizationUsers])
    const listed = scans.flatMap(({ files }) => files.map(({ key }) => key))
    expect([...world.lake.files.keys()]).toEqual(listed)
    expect(world.current(organizationUsers).size).toBe(2)
  })
})

describe('an attempt that dies', () => {
  it('writes a newer copy again that was read, but not flushed, while an older one was being flushed', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const older = session(1, { updatedAt: Date.UTC(2026, 1, 1), title: 'older' })
    const newer = session(1, { updatedAt: Date.UTC(2026, 1, 2), title: 'newer' })
    const list = pagesOf([older], [newer], [session(2)])
    // The flush of the first page ends only when the second was taken in; the attempt dies before that is flushed.
    let flushes = 0
    const lake = {
      ...world.lake,
      writeRows: async (...args: Parameters<typeof world.lake.writeRows>) => {
        flushes += 1
        if (flushes === 2) throw new Error('killed')
        for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
        return world.lake.writeRows(...args)
      },
    }
    await expect(world.sync(sessions, list, { lake, runId: 'run' })).rejects.toThrow('killed')

    await world.sync(sessions, list, { runId: 'run' })
    await world.publish([sessions])
    expect(world.current(sessions).get('s1')?.title).toBe('newer')
    expect((await world.records.get('sessions', 's1'))?.body).toContain('newer')
  })

  it('before its first flush is not taken for done by the next attempt of its run', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(2)))
    const dead = async () => {
      throw new Error('killed')
    }
    const lake = { ...world.lake, writeRows: dead }
    const checkpoints = { ...world.checkpoints, save: failingAfter(world.checkpoints.save, 'killed') }
    const dying = world.sync(organizationUsers, listOf(users(3)), { runId: 'run', lake, checkpoints })
    await expect(dying).rejects.toThrow('killed')
    world.clock.advance(600_000)
    expect(await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })).toMatchObject({
      status: 'complete',
      counts: { inserted: 1, unchanged: 2 },
    })
  })

  it('leaves no ghost of a record that was gone when the next attempt came', async () => {
    const world = createWorld({ settings: { flushRecords: 1 } })
    const run = 'run'
    const dying = { ...world.checkpoints, save: failingAfter(world.checkpoints.save, 'scan that moved') }
    await world
      .sync(organizationUsers, pagesOf([user(1)], [user(2)]), { checkpoints: dying, runId: run })
      .catch(() => {})
    expect(world.live(organizationUsers)).toContain('u1')

    world.clock.advance(600_000)
    await world.sync(organizationUsers, pagesOf([user(2)]), { runId: run })
    expect(world.live(organizationUsers)).toEqual(['u2'])
  })

  it('leaves no content that the platform had only for a moment', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([user(1, { firstName: 'A' })]))
    const dying = { ...world.checkpoints, save: failingAfter(world.checkpoints.save, 'scan that moved') }
    const moment = listOf([user(1, { firstName: 'B' })])
    await world.sync(organizationUsers, moment, { checkpoints: dying }).catch(() => {})
    expect((await world.records.get('organization_users', 'u1'))?.body).toContain('"B"')

    world.clock.advance(600_000)
    await world.sync(organizationUsers, listOf([user(1, { firstName: 'A' })]))
    expect((await world.records.get('organization_users', 'u1'))?.body).toContain('"A"')
  })

  it('in the middle of approved deletes leaves nothing deleted that is still listed', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(30)))
    expect(await world.sync(organizationUsers, listOf(users(8)))).toMatchObject({ status: 'suspect' })
    const checkpoints = {
      ...world.checkpoints,
      complete: async () => {
        throw new Error('killed')
      },
    }
    const killed = approveDeletes(organizationUsers, world.newRun(), world.deps(listOf([]), { checkpoints }))
    await expect(killed).rejects.toThrow('killed')

    await world.sync(organizationUsers, listOf(users(8)))
    expect(world.live(organizationUsers)).toEqual(users(8).map(({ id }) => id))
    await world.publish([organizationUsers])
    expect(world.current(organizationUsers).size).toBe(8)
  })
})

describe('a list that went round in a circle', () => {
  it('is read whole by the next run, once it is healed', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    const pages = [0, 1, 2, 3, 4, 5].map((page) => [user(page * 2), user(page * 2 + 1)])
    const whole = pagesOf(...pages)
    const circle = scripted(async (token) => {
      const page = await whole.fetchPage(organizationUsers, token, {
        window: { since: null, until: 0 },
        signal: AbortSignal.any([]),
        patience: createPatience(0),
        onRequest: () => {},
      })
      return page.nextToken === 'p4' ? { ...page, nextToken: 'p1' } : page
    })
    expect(await world.sync(organizationUsers, circle)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('stalled'),
    })
    const healed = await world.sync(organizationUsers, whole)
    expect(healed).toMatchObject({ status: 'complete', counts: { inserted: 12, deleted: 0 } })
  })
})

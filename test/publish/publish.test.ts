import { describe, expect, it } from 'vitest'
import { publishRun } from '../../lib/publish/publish.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { chunks, listOf, pagesOf, session, user, users } from '../sync/support/source.ts'
import { createWorld, type World } from '../sync/support/world.ts'

const streams = [organizationUsers, sessions]
function filesOf(world: World) {
  return [...world.lake.manifests.values()].flatMap(({ scans }) =>
    scans.flatMap(({ files }) => files.map(({ key }) => key)),
  )
}
function publishAs(world: World, runId: string, more: Parameters<World['publishDeps']>[0] = {}) {
  return publishRun({ runId, scheduledAt: 0 }, streams, world.publishDeps(more))
}

describe('a publication', () => {
  it('makes whole scans visible in one step, as few files: before it, readers see nothing of them (S3-02)', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    await world.sync(organizationUsers, listOf(users(6), 2), { runId: 'run' })
    expect(world.current(organizationUsers).size).toBe(0)
    const manifest = await world.publish(streams, 'run')
    expect(world.current(organizationUsers).size).toBe(6)
    expect(manifest.scans).toMatchObject([{ stream: 'organization_users', records: 6, files: [{ rows: 6 }] }])
    expect(world.lake.latest()).toEqual(manifest)
  })

  it('of nothing writes no manifest', async () => {
    const world = createWorld()
    expect(await world.publish(streams, 'run')).toMatchObject({ runId: 'run', scans: [] })
    expect(world.lake.manifests.size).toBe(0)
    expect(world.lake.latest()).toBeNull()
  })

  it('is not changed by being asked for again, and no file is in two manifests', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })
    const first = await world.publish(streams, 'run')
    world.clock.advance(1_000)
    expect(await world.publish(streams, 'run')).toEqual(first)
    expect(await world.publish(streams, 'later')).toMatchObject({ scans: [] })
    expect(filesOf(world)).toHaveLength(1)
  })

  it('adds a stream that completed later to the manifest of its run', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })
    await world.publish(streams, 'run')
    await world.sync(sessions, listOf([session(1)]), { runId: 'run' })
    const manifest = await world.publish(streams, 'run')
    expect(manifest.scans.map(({ stream }) => stream)).toEqual(['organization_users', 'sessions'])
    expect(world.current(organizationUsers).size).toBe(3)
    expect(world.current(sessions).size).toBe(1)
  })

  it('holds two scans of a stream, when one waited for it from an earlier run', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf([user(1, { firstName: 'A' }), user(2)]), { runId: 'run-1' })
    await world.sync(organizationUsers, listOf([user(1, { firstName: 'B' })]), { runId: 'run-2' })
    const manifest = await world.publish(streams, 'run-2')
    expect(manifest.scans.map(({ scanId }) => scanId)).toEqual(['run-1-1', 'run-2-2'])
    expect([...world.current(organizationUsers).values()]).toMatchObject([{ id: 'u1', first_name: 'B' }])
    expect(new Set(filesOf(world)).size).toBe(filesOf(world).length)
    // The index that stands is the second scan's.
    expect((await world.sync(organizationUsers, listOf([user(1, { firstName: 'B' })]))).counts).toMatchObject({
      unchanged: 1,
    })
  })

  it('lists a scan that a later run ended where its first run put it', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    let looks = 0
    const deadline = { remainingMs: () => (++looks > 2 ? 0 : 60_000) }
    const list = () => pagesOf(...chunks(users(6), 2))
    await world.sync(organizationUsers, list(), { runId: 'run-1', deadline })
    world.clock.advance(86_400_000)
    await world.sync(organizationUsers, list(), { runId: 'run-2' })
    const { scans } = await world.publish(streams, 'run-2')
    expect(scans[0]?.files.map(({ key }) => key.replace(/[^/]*$/, ''))).toEqual([
      'changes/organization_users/dt=2026-05-06/run=run-1/',
    ])
    expect(world.current(organizationUsers).size).toBe(6)
  })

  it('removes what dead attempts left, and nothing else', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    const lake = {
      ...world.lake,
      writeRows: async (...args: Parameters<typeof world.lake.writeRows>) => {
        await world.lake.writeRows(...args)
        throw new Error('killed')
      },
    }
    await world.sync(organizationUsers, listOf(users(4), 2), { runId: 'run', lake }).catch(() => {})
    await world.sync(sessions, listOf([session(1)]), { runId: 'run' })
    world.clock.advance(86_400_000)
    await world.sync(organizationUsers, listOf(users(4), 2), { runId: 'run' })
    await world.publish(streams, 'run')
    expect([...world.lake.files.keys()].sort()).toEqual(filesOf(world).sort())
    expect(filesOf(world)).toHaveLength(2)
  })

  it('holds nothing of scans that changed nothing, and forgets them all the same (LAKE-07)', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-1' })
    await world.publish(streams, 'run-1')
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-2' })
    expect(await world.publish(streams, 'run-2')).toMatchObject({ runId: 'run-2', scans: [] })
    expect([...world.lake.manifests.keys()]).toEqual(['run-1'])
    expect(world.lake.latest()?.runId).toBe('run-1')
    expect(await world.checkpoints.unpublished('organization_users')).toEqual([])
    expect(await world.index.listParts('organization_users')).toEqual([])
  })
})

describe('a publisher that dies', () => {
  const steps = ['mergeParts', 'writeManifest', 'pointLatest', 'removeLeftovers'] as const

  it.each(steps.flatMap((step) => [[step, 'before'] as const, [step, 'after'] as const]))(
    'at %s, %s it happened, is finished by the next one first',
    async (step, when) => {
      const world = createWorld()
      await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-1' })
      const lake = {
        ...world.lake,
        [step]: async (...args: never[]) => {
          if (when === 'after') await (world.lake[step] as (...args: never[]) => Promise<unknown>)(...args)
          throw new Error('killed')
        },
      }
      await expect(publishAs(world, 'run-1', { lake })).rejects.toThrow('killed')
      await world.sync(organizationUsers, listOf(users(4)), { runId: 'run-2' })
      world.clock.advance(600_000)
      const manifest = await world.publish(streams, 'run-2')
      expect(manifest.scans.map(({ scanId }) => scanId)).toEqual(['run-2-2'])
      expect(world.lake.manifests.get('run-1')?.scans.map(({ scanId }) => scanId)).toEqual(['run-1-1'])
      expect(world.lake.latest()?.runId).toBe('run-2')
      expect(filesOf(world)).toHaveLength(2)
      expect(world.current(organizationUsers).size).toBe(4)
      expect(await world.checkpoints.unpublished('organization_users')).toEqual([])
    },
  )

  it('is finished by a run of other streams, which removes what dead attempts left of its streams', async () => {
    const world = createWorld({ settings: { flushRecords: 2 } })
    const dying = {
      ...world.lake,
      writeRows: async (...args: Parameters<typeof world.lake.writeRows>) => {
        await world.lake.writeRows(...args)
        throw new Error('killed')
      },
      removeLeftovers: async () => {
        throw new Error('killed')
      },
    }
    await world.sync(organizationUsers, listOf(users(4), 2), { runId: 'run-1', lake: dying }).catch(() => {})
    world.clock.advance(86_400_000)
    await world.sync(organizationUsers, listOf(users(4), 2), { runId: 'run-1' })
    await expect(publishAs(world, 'run-1', { lake: dying })).rejects.toThrow('killed')
    world.clock.advance(600_000)
    await world.sync(sessions, listOf([session(1)]), { runId: 'run-2' })
    await world.publish([sessions], 'run-2')
    expect(world.lake.manifests.get('run-1')?.scans).toHaveLength(1)
    expect([...world.lake.files.keys()].sort()).toEqual(filesOf(world).sort())
  })

  it('after it forgot a scan, but not its publication, is finished without a second entry', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-1' })
    const index = {
      ...world.index,
      remove: async (...args: Parameters<typeof world.index.remove>) => {
        await world.index.remove(...args)
        throw new Error('killed')
      },
    }
    await expect(publishAs(world, 'run-1', { index })).rejects.toThrow('killed')
    const before = world.lake.manifests.get('run-1')
    expect(await world.publish(streams, 'run-2')).toMatchObject({ scans: [] })
    expect(world.lake.manifests.get('run-1')).toEqual(before)
    expect(world.current(organizationUsers).size).toBe(3)
  })
})

describe('a publisher that dies after a scan that changed nothing', () => {
  it('leaves nothing that the next one stumbles over', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-1' })
    await world.publish(streams, 'run-1')
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-2' })
    const index = {
      ...world.index,
      remove: async (...args: Parameters<typeof world.index.remove>) => {
        await world.index.remove(...args)
        throw new Error('killed')
      },
    }
    await expect(publishAs(world, 'run-2', { index })).rejects.toThrow('killed')
    expect(await world.publish(streams, 'run-3')).toMatchObject({ scans: [] })
    expect([...world.lake.manifests.keys()]).toEqual(['run-1'])
  })
})

describe('two publishers', () => {
  it('are one: the second is told who publishes, and does nothing', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run' })
    const claim = { owner: 'other', now: world.clock.now(), expiresAt: world.clock.now() + 1_000 }
    await world.publications.acquire(claim)
    expect(await publishAs(world, 'run')).toEqual({ heldBy: 'other', until: claim.expiresAt })
    expect(world.lake.manifests.size).toBe(0)
    world.clock.advance(1_001)
    expect(await publishAs(world, 'run')).toMatchObject({ manifest: { scans: { length: 1 } } })
  })
})

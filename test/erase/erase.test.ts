import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { erasuresDone } from '../../lib/erase/done.ts'
import { eraseUser } from '../../lib/erase/erase.ts'
import { planErasure } from '../../lib/erase/plan.ts'
import { textRows } from '../../lib/stores/erase-rows.ts'
import { ada, afterTwoNights, depsOver, tracesIn } from './erasing-world.ts'
import { bucketOver, copyOf, everythingIn, type Kept, keep } from './kept.ts'

let nights: Awaited<ReturnType<typeof afterTwoNights>>
let kept: Kept

beforeAll(async () => {
  nights = await afterTwoNights()
  kept = nights.kept
})

const by = 'an admin'

describe('a plan of an erasure', () => {
  it('says who is meant and what would go, by place, and changes nothing', async () => {
    const before = JSON.stringify(await everythingIn(kept))
    const { plan } = await planErasure(ada, depsOver(kept, nights.world))
    expect(plan.person).toEqual({
      addresses: ['ada@example.com'],
      ids: ['user-ada'],
      names: ['Ada Lovelace'],
      nameParts: ['Ada', 'Lovelace'],
      others: ['ada-laptop'],
      fingerprints: ['hashed:hmac-sha256:00000000000000ad:15'],
    })
    expect(plan.refusals).toEqual([])
    const places = plan.places.map(({ place, mentions, fate }) => `${place}: ${mentions} ${fate}`)
    expect(places).toEqual(
      expect.arrayContaining([
        'changes/organization_users: 2 rewritten',
        'changes/sessions: 1 rewritten',
        'quarantine/organization_users: 1 rewritten',
        'hooks: 1 rewritten',
        'dropped files: 1 removed',
        'records table: 3 rewritten',
        'limits table: 4 rewritten',
      ]),
    )
    expect(JSON.stringify(await everythingIn(kept))).toBe(before)
  })

  it('refuses while the platform lists the person, or the policy names them', async () => {
    const world = copyOf(kept)
    keep(world.records, [{ pk: 'organization_users#user-ada', body: '{"id":"user-ada","email":"ada@example.com"}' }])
    world.inbox.objects.set('policy/policy.yaml', Buffer.from('overrides: ada@example.com'))
    const deps = depsOver(world, nights.world)
    const { plan } = await planErasure(ada, deps)
    expect(plan.refusals).toHaveLength(2)
    await expect(eraseUser(ada, { erasedBy: by, deps })).rejects.toThrow(/lists the person.*policy\/policy.yaml/s)
    expect(tracesIn(await everythingIn(world)).length).toBeGreaterThan(3)
  })
})

describe('an erasure', () => {
  it('leaves no byte of the person in any version, keeps what is of others, and is on record', async () => {
    const world = copyOf(kept)
    expect(tracesIn(await everythingIn(world))).toHaveLength(4)
    const deps = depsOver(world, nights.world)
    const erasure = await eraseUser(ada, { erasedBy: by, deps })
    expect(erasure.left).toEqual([])
    expect(tracesIn(await everythingIn(world))).toEqual([])
    expect(await erasuresDone(deps.lake)).toEqual([erasure])
    expect(erasure).toMatchObject({ erasedBy: by, fingerprint: '0123456789abcdef' })

    const rows: (string | null)[][] = []
    for (const { key, table, kind } of await deps.lists.readFiles()) {
      if (kind === 'quarantine') throw new Error('the quarantined record was of the person alone')
      const bytes = world.lake.objects.get(key) as Uint8Array
      for await (const row of textRows(bytes, ['id', 'email', 'title', 'user_email', 'user_name']))
        rows.push([table, ...row])
    }
    expect(rows.toSorted()).toEqual([
      ['enterprise_control_revisions', null, null, null, 'erased', 'erased'],
      ['organization_users', 'u1', 'u1@example.com', null, null, null],
      ['organization_users', 'u2', 'granada@example.com', null, null, null],
      ['sessions', null, null, 'for erased by "erased"', null, null],
      ['sessions', null, null, 'granada@example.com', null, null],
    ])
    expect([...world.limits.keys()]).toEqual(['email#u1@example.com outcome#1', 'log#2026-11 1'])
    expect(world.limits.get('log#2026-11 1')?.body).toBe('[["u1@example.com","1","applied"]]')
    expect([...world.records.keys()]).not.toContain('organization_users#user-ada ')
    const hooks = gunzipSync(world.lake.objects.get('hooks/dt=2026-11-01/a.ndjson.gz') as Uint8Array)
    expect(hooks.toString()).toBe('{"eventId":"e","host":"erased"}\n{"eventId":"f"}\n')
    expect([...world.inbox.objects.keys()]).toEqual(['policy-plans/memory.json'])
  })

  it('is refused while a run publishes', async () => {
    const world = copyOf(kept)
    const { publications, clock } = nights.world
    const expiresAt = clock.now() + 60_000
    const taken = await publications.acquire({ owner: 'a run', now: clock.now(), expiresAt })
    if ('heldBy' in taken) throw new Error('somebody publishes')
    const deps = depsOver(world, nights.world)
    await expect(eraseUser(ada, { erasedBy: by, deps })).rejects.toThrow('A run publishes at this moment')
    await publications.save(taken.state, { owner: 'a run', expiresAt, release: true })
    expect(await bucketOver('lake', world.lake).list('erasures/')).toEqual([])
  })
})

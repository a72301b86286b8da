import { describe, expect, it } from 'vitest'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { contents, depsOver, dying, namedBy, userTables } from '../support/tables/contents.ts'
import { createTablesWorld } from '../support/tables/tables-world.ts'
import { user, users } from '../sync/support/source.ts'

const second = [user(0, { firstName: 'Zoe' }), user(2), user(3)]

describe('a publisher that dies', () => {
  it('between any two writes leaves whole snapshots, and the next one adds what is missing, once', async () => {
    const undisturbed = createTablesWorld()
    await undisturbed.night([[organizationUsers, users(3)]])
    await undisturbed.night([[organizationUsers, second]])
    const wanted = await contents(undisturbed)
    let deaths = 0
    for (const when of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        const world = createTablesWorld()
        await world.night([[organizationUsers, users(3)]])
        const { objects, publications, calls } = dying(world, n, when)
        const dead = await world.night([[organizationUsers, second]], depsOver(world, objects), { publications }).then(
          () => false,
          () => true,
        )
        if (!dead) break
        expect(calls()).toBeGreaterThanOrEqual(n)
        world.clock.advance(600_000)
        deaths += 1
        for (const name of userTables) await namedBy(world, name)
        await world.publishRun(world.newRun(), depsOver(world, world.objects))
        expect(await contents(world), `${when} ${n}`).toEqual(wanted)
        expect((await world.icebergDeps().pointers.find('organization_users'))?.metadata.snapshots.length).toBe(1)
      }
    }
    expect(deaths).toBeGreaterThan(20)
  })

  it('leaves files that are swept away when nobody can be writing them any more', async () => {
    const world = createTablesWorld()
    await world.night([[organizationUsers, users(3)]])
    const { objects, publications } = dying(world, 5, 'before')
    const night = world.night([[organizationUsers, second]], depsOver(world, objects), { publications })
    await expect(night).rejects.toThrow('killed')
    world.clock.advance(600_000)
    const before = await world.objects.list('iceberg/organization_users/metadata/')
    const { list, manifests } = await namedBy(world, 'organization_users')
    expect(before.filter((key) => key.endsWith('.avro') && key !== list && !manifests.includes(key))).not.toEqual([])
    world.clock.advance(2 * 86_400_000)
    for (let n = 0; n < 15; n++) await world.night([[organizationUsers, [...second, ...users(n)]]])
    for (const name of userTables) {
      const { metadata } = (await world.icebergDeps().pointers.find(name))!
      const named = new Set<string>()
      for (const at of metadata.snapshots.keys()) {
        const { list, manifests, data } = await namedBy(world, name, at)
        for (const key of [list, ...manifests, ...data]) named.add(key)
      }
      const lying = (await world.objects.list(`iceberg/${name}/`)).filter((key) => /\.(avro|parquet)$/.test(key))
      expect(lying.filter((key) => !named.has(key))).toEqual([])
    }
  })
})

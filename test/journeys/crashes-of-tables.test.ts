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
        const { objects, calls } = dying(world.objects, n, when)
        const dead = await world.night([[organizationUsers, second]], depsOver(world, objects)).then(
          () => false,
          () => true,
        )
        if (!dead) break
        expect(calls()).toBe(n)
        deaths += 1
        for (const name of userTables) await namedBy(world, name)
        await world.publishRun(world.newRun(), depsOver(world, world.objects))
        expect(await contents(world), `${when} ${n}`).toEqual(wanted)
        expect((await world.icebergDeps().pointers.find('organization_users'))?.metadata.snapshots.length).toBe(1)
      }
    }
    expect(deaths).toBeGreaterThan(20)
  })
})

import { describe, expect, it } from 'vitest'
import { publishRun } from '../../lib/publish/publish.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { listOf, session, users } from '../sync/support/source.ts'
import { createWorld, type World } from '../sync/support/world.ts'

/** Publishes while each merge takes longer than half a lease, and dies before one of them if so many are done. */
function publish(world: World, merged: string[], dies = Number.POSITIVE_INFINITY) {
  let isDead = false
  const lake: typeof world.lake = {
    ...world.lake,
    mergeParts: async (table, parts, lease) => {
      isDead = merged.length === dies
      if (isDead) throw new Error('killed')
      world.clock.advance(50_000)
      await lease.stillMine()
      merged.push(table.name)
      return world.lake.mergeParts(table, parts, lease)
    },
  }
  const publications: typeof world.publications = {
    ...world.publications,
    save: async (...args) => {
      if (isDead) throw new Error('killed')
      return world.publications.save(...args)
    },
  }
  const run = { runId: 'run-1', scheduledAt: 0 }
  return publishRun(run, [organizationUsers, sessions], world.publishDeps({ lake, publications }))
}

describe('a publisher that dies in long merging', () => {
  it('leaves what is merged to the next one, however its lease was renewed meanwhile', async () => {
    const world = createWorld()
    await world.sync(organizationUsers, listOf(users(3)), { runId: 'run-1' })
    await world.sync(sessions, listOf([session(1, { sessionSettings: { tags: [{ name: 'a' }] } })]), { runId: 'run-1' })
    const merged: string[] = []
    await expect(publish(world, merged, 2)).rejects.toThrow('killed')
    world.clock.advance(600_000)
    await publish(world, merged)
    // The second one was merged after the last renewal.
    expect(merged).toEqual(['organization_users', 'sessions', 'sessions', 'session_tags'])
    expect(world.current(sessions).size).toBe(1)
  })
})

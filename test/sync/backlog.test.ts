import { expect, it } from 'vitest'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { listOf, user } from '../sync/support/source.ts'
import { createWorld } from '../sync/support/world.ts'

it('ends a scan with what is wrong before the list of those that wait for publish is full, and reads on once they are published', async () => {
  const world = createWorld()
  const sync = (n: number) => world.sync(organizationUsers, listOf([user(1, { firstName: `${n}` }), user(2)]))
  const first = await sync(0)
  expect(first.status).toBe('complete')
  const since = (await world.checkpoints.unpublished('organization_users'))[0]!.completedAt
  let scans = 1
  let last = await sync(scans)
  for (; last.status === 'complete'; last = await sync(scans)) scans += 1
  expect(last).toMatchObject({ status: 'failed' })
  expect(last.reason).toContain(`organization_users: nothing was published since ${new Date(since).toISOString()}.`)
  expect(last.reason).toContain(`${scans} scans wait for it, and their list is full. See why publishing fails`)
  // A scan every 15 minutes has a place for more than two days.
  expect(scans).toBeGreaterThan(192)
  expect(JSON.stringify(await world.checkpoints.unpublished('organization_users')).length).toBeLessThan(300_000)
  await world.publish([organizationUsers])
  expect(await sync(-1)).toMatchObject({ status: 'complete' })
  expect(world.live(organizationUsers)).toHaveLength(2)
})

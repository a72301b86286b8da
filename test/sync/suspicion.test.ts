import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import { listOf, nestedUser, session, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

function listOfSessions(
  count: number,
  odd = 0,
  fields: { [key: string]: Json } = { createdAt: '2026-05-06T10:00:00Z' },
) {
  return listOf(Array.from({ length: count }, (_, n) => session(n, n < odd ? fields : {})))
}

describe('a scan in which much can not be used (RUN-01)', () => {
  it('is suspect when a required field is odd in all of it, names the field, and publishes the rest', async () => {
    const world = createWorld()
    await world.sync(sessions, listOfSessions(12))
    await world.publish([sessions])
    const result = await world.sync(sessions, listOfSessions(12, 12))
    expect(result).toMatchObject({
      status: 'suspect',
      reason: 'createdAt has an unforeseen form in 12 of 12 records: nothing was deleted',
      counts: { updated: 12, invalid: { createdAt: 12 } },
    })
    const manifest = await world.publish([sessions])
    expect(manifest.scans).toMatchObject([{ status: 'suspect', counts: { invalid: { createdAt: 12 } } }])
    expect(world.current(sessions).get('s5')).toMatchObject({ created_at: null, status: 'idle' })
    // Nothing changes, and the next scan says the same.
    expect(await world.sync(sessions, listOfSessions(12, 12))).toMatchObject({
      status: 'suspect',
      counts: { unchanged: 12 },
    })
    expect(await world.sync(sessions, listOfSessions(12))).toMatchObject({ status: 'complete', reason: null })
  })

  it.each([
    [1, 1, 'suspect'],
    [10, 11, 'complete'],
    [11, 54, 'suspect'],
    [11, 55, 'complete'],
  ])('is suspect above 10 and above 20 percent, or when it is all: %i of %i', async (odd, count, status) => {
    expect(await createWorld().sync(sessions, listOfSessions(count, odd))).toMatchObject({ status })
  })

  it('is not suspect for an optional field, whatever comes in it', async () => {
    const result = await createWorld().sync(sessions, listOfSessions(12, 12, { completedAt: 0, title: 5 }))
    expect(result).toMatchObject({ status: 'complete', counts: { invalid: { completedAt: 12, title: 12 } } })
  })

  it('is suspect for a required field of the elements of a nested table', async () => {
    const criteria = { tests: { numerator: '1', denominator: 1, rationale: 'x' } }
    const report = { reportId: 'r', createdAt: Date.UTC(2026, 0, 1), repoUrl: 'x', apps: {}, report: criteria }
    expect(await createWorld().sync(readinessReports, listOf([report]))).toMatchObject({
      status: 'suspect',
      reason: expect.stringContaining('report.*.numerator has an unforeseen form in 1 of 1 records'),
    })
  })

  it('is suspect when much of it is in quarantine', async () => {
    const world = createWorld()
    const list = [...users(12).map(({ email }) => ({ email: email! })), nestedUser(13)]
    expect(await world.sync(organizationUsers, listOf(list))).toMatchObject({
      status: 'suspect',
      reason:
        '13 of 13 records are in quarantine (12 without a usable id, 1 nested deeper than 200 levels): nothing was deleted',
    })
  })

  it('withholds deletes, which can be approved; without any there is nothing to approve', async () => {
    const world = createWorld()
    await world.sync(sessions, listOfSessions(20))
    const result = await world.sync(sessions, listOfSessions(19, 19))
    expect(result).toMatchObject({
      status: 'suspect',
      reason: expect.stringMatching(
        /^createdAt .+: nothing was deleted; if it is right, run "platform-sync approve sessions"$/,
      ),
      counts: { deleted: 0 },
    })
    const approve = () => approveDeletes(sessions, world.newRun(), world.deps(listOf([])))
    expect(await approve()).toMatchObject({ status: 'complete', counts: { deleted: 1 } })
    await world.sync(sessions, listOfSessions(19, 19))
    await expect(approve()).rejects.toMatchObject({ code: 'approval_not_possible' })
  })
})

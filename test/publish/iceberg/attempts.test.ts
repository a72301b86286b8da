import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computers } from '../../../lib/streams/computers.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { attempt, behindWorld, publishIn, smallFiles, upAfter } from '../../support/tables/attempts.ts'
import { change, currentRowsOf, happenings, type Live, rowsIn } from '../../support/tables/computers.ts'
import { contents, fateful, namedBy, userTables } from '../../support/tables/contents.ts'
import { createTablesWorld } from '../../support/tables/tables-world.ts'
import { listOf, user, users } from '../../sync/support/source.ts'

describe('a table whose update takes longer than an attempt', () => {
  it('comes further with each attempt, and shows readers one step', async () => {
    const { world, live } = await behindWorld()
    const before = await currentRowsOf(world)
    const states = new Set<string>()
    let attempts = 0
    for (let behind = 1; behind > 0; attempts++) {
      behind = (await publishIn(world, 9)).length
      states.add(JSON.stringify((await currentRowsOf(world)).get('computers')))
      expect(attempts).toBeLessThan(60)
    }
    expect(attempts).toBeGreaterThan(4)
    expect(states).toEqual(new Set([before, rowsIn(live)].map((rows) => JSON.stringify(rows.get('computers')))))
    expect((await world.icebergDeps().pointers.find('computers_current'))?.metadata.snapshots).toHaveLength(2)
    expect((await world.objects.list('iceberg/')).filter((key) => key.endsWith('-progress.json'))).toEqual([])
  })

  it('is for another attempt where this one had only the time to publish', async () => {
    const { world, live } = await behindWorld()
    const publishWith = (looks: number) => world.publishRun(world.newRun(), smallFiles, { deadline: upAfter(looks) })
    let looks = 0
    const first = async () => {
      for (; ; looks++) {
        try {
          return await publishWith(looks)
        } catch (error) {
          expect(error).toMatchObject({ code: 'time_is_up' })
        }
      }
    }
    expect(await first()).toMatchObject({ behind: [{ triedAt: 0 }, {}, {}, {}], goOn: true })
    expect(await publishWith(Number.POSITIVE_INFINITY)).toMatchObject({ behind: [], goOn: false })
    expect(await currentRowsOf(world)).toEqual(rowsIn(live))
  })

  it('goes on with what the attempt wrote that published it, also where records were quarantined', async () => {
    const { world, live } = await behindWorld()
    const run = world.newRun()
    await world.sync(computers, listOf([...live.values(), { name: 'without an id' }]), { runId: run.runId })
    const dataFiles = () => world.objects.list('iceberg/computer_provisioning_steps_current/data/')
    const before = await dataFiles()
    const { manifest } = await world.publishRun(run, smallFiles, { deadline: upAfter(40) })
    expect(manifest.scans.flatMap(({ files }) => files.map(({ kind }) => kind))).toContain('quarantine')
    const written = (await dataFiles()).filter((key) => !before.includes(key))
    expect(written.length).toBeGreaterThan(0)
    expect(await world.publications.behind()).toHaveProperty('computer_provisioning_steps_current.progress')
    await attempt(world, () => 200)
    expect((await namedBy(world, 'computer_provisioning_steps_current')).data).toEqual(expect.arrayContaining(written))
  })

  it('takes over a night that was published when the clock had been set back', async () => {
    const { world, live } = await behindWorld()
    const { clock } = world
    const setBack = { ...clock, now: () => clock.now() - 48 * 3_600_000 }
    const run = world.newRun()
    const { manifest, behind } = await world.publishRun(run, smallFiles, { clock: setBack, deadline: upAfter(9) })
    expect(Date.parse(manifest.publishedAt)).toBeGreaterThan(setBack.now())
    expect(behind.length).toBeGreaterThan(0)
    await attempt(world, () => 200)
    expect(await currentRowsOf(world)).toEqual(rowsIn(live))
  })

  it('takes nights that come meanwhile over as well, and may be made anew in many attempts', async () => {
    const story = fc.record({
      nights: fc.array(fc.record({ happens: happenings, looks: fc.integer({ min: 0, max: 60 }) }), {
        ...{ minLength: 3, maxLength: 6, size: 'max' },
      }),
      groupRows: fc.integer({ min: 1, max: 4 }),
      loses: fc.boolean(),
      last: fc.integer({ min: 20, max: 60 }),
    })
    await fc.assert(
      fc.asyncProperty(story, async ({ nights, groupRows, loses, last }) => {
        const world = createTablesWorld()
        const live: Live = new Map()
        const more = { fileSize: { bytes: 1, groupRows }, progressMs: 0 }
        change(
          live,
          Array.from({ length: 24 }, (_, n) => n % 3),
          'first',
        )
        await world.night([[computers, [...live.values()]]], more)
        for (const [at, { happens, looks }] of nights.entries()) {
          change(live, happens, `${at}`)
          await world.sync(computers, listOf([...live.values()]), { runId: world.newRun().runId })
          if (loses && at === 1) await world.objects.remove(['iceberg/computers_current/metadata/version-hint.text'])
          await publishIn(world, looks, more)
        }
        // Each attempt has more time than the one before: looking at what changed is not divided.
        await attempt(world, (n) => last + 5 * n, more)
        expect(await currentRowsOf(world)).toEqual(rowsIn(live))
      }),
      { numRuns: 12 },
    )
  })
})

describe('a table that can not be brought up to date', () => {
  const key = 'iceberg/organization_users_current/metadata/version-hint.text'

  it('keeps no other back, is told with its reason, and catches up with all that it lacks', async () => {
    const world = createTablesWorld()
    const undisturbed = createTablesWorld()
    const retention = { days: 1, snapshots: 1 }
    const nights = [users(3), users(5), [user(0, { firstName: 'Zoe' }), ...users(5).slice(2)], users(4)]
    for (const night of nights) await undisturbed.night([[organizationUsers, night]], { retention })
    await world.night([[organizationUsers, nights[0]!]], { retention })
    const hint = (await world.objects.get(key))!
    await world.objects.put(key, Buffer.from('no number'))
    for (const night of nights.slice(1, -1)) {
      world.clock.advance(3 * 86_400_000)
      const { behind } = await world.night([[organizationUsers, night]], { retention })
      expect(behind).toMatchObject([
        { table: 'organization_users_current', reason: expect.stringContaining('is gone. Restore') },
      ])
    }
    expect((await world.icebergDeps().pointers.find('organization_users'))?.metadata.snapshots).toHaveLength(1)
    expect(await world.checkpoints.unpublished('organization_users')).toEqual([])
    await world.objects.put(key, hint)
    expect(await world.night([[organizationUsers, nights.at(-1)!]], { retention })).toMatchObject({ behind: [] })
    const shown = await contents(world)
    for (const name of userTables)
      expect(withoutTimes(shown[name])).toEqual(withoutTimes((await contents(undisturbed))[name]))
    expect((await namedBy(world, userTables[1]!)).data).toHaveLength(1)
  })

  it('is left alone for an hour when those who try it die, and keeps no other back', async () => {
    const world = createTablesWorld()
    await world.night([[organizationUsers, users(3)]])
    await world.sync(organizationUsers, listOf(users(4)), { runId: world.newRun().runId })
    // Whatever is written of the table kills the process, and so the next ones.
    const die = () => {
      let isDead = false
      return fateful(world, (_, target) => {
        isDead ||= target.startsWith('iceberg/organization_users_current/')
        return isDead ? 'fail before' : 'pass'
      })
    }
    const tables = async () => {
      const { objects, publications } = die()
      const more = { files: objects, pointers: world.icebergDepsOver(objects).pointers }
      const { behind } = await world.publishRun({ runId: 'run-2', scheduledAt: 0 }, more, { publications })
      return behind.map(({ table, reason }) => `${table}: ${reason}`)
    }
    for (let deaths = 0; deaths < 3; deaths++) {
      await expect(tables()).rejects.toThrow('killed')
      world.clock.advance(61_000)
    }
    const [left, ...others] = await tables()
    expect(left).toMatch(/^organization_users_current: 2 attempts at it died; it is not tried again before 2026-/)
    expect(others).toEqual([])
    expect((await contents(world)).organization_users).toHaveLength(4)
    world.clock.advance(3_600_000)
    expect(await world.publishRun(world.newRun())).toMatchObject({ behind: [] })
    expect((await contents(world)).organization_users_current).toHaveLength(4)
  })

  it('is left alone by runs that read other streams', async () => {
    const world = createTablesWorld()
    await world.night([[organizationUsers, users(3)]])
    await world.objects.put(key, Buffer.from('no number'))
    await world.night([[organizationUsers, users(4)]])
    const { behind } = await world.publishRun(world.newRun(), {}, { read: [computers] })
    expect(behind).toEqual([])
    expect(Object.keys(await world.publications.behind())).toEqual(['organization_users_current'])
  })
})

/** Nights have other times and runs in another world. */
function withoutTimes(rows: unknown[] = []): unknown[] {
  return rows.map((row) => JSON.stringify((JSON.parse(String(row)) as unknown[]).slice(0, 4))).sort()
}

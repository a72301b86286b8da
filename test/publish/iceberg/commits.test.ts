import { describe, expect, it } from 'vitest'
import { decodeManifest } from '../../../lib/publish/iceberg/manifests.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { createMemoryObjects } from '../../support/memory/objects.ts'
import { contents, namedBy, userTables } from '../../support/tables/contents.ts'
import { createTablesWorld } from '../../support/tables/tables-world.ts'
import { user, users } from '../../sync/support/source.ts'

const [table] = organizationUsers.tables
const hour = 3_600_000
const day = 24 * hour

const second = [user(0, { firstName: 'Zoe' }), user(2), user(3)]

describe('two writers', () => {
  it('lose no snapshot: the slower one reads the table anew and adds its own', async () => {
    const world = createTablesWorld()
    await world.night([[organizationUsers, users(3)]])
    const { pointers } = world.icebergDeps()
    let raced = 0
    const racing: typeof pointers = {
      ...pointers,
      replace: async (name, change) => {
        if (raced++ > 0) return await pointers.replace(name, change)
        const found = await pointers.find(name)
        const properties = { ...found?.metadata.properties, other: 'writer' }
        await pointers.replace(name, { ...change, found, metadata: { ...found!.metadata, properties } })
        return await pointers.replace(name, change)
      },
    }
    await world.night([[organizationUsers, second]], { pointers: racing })
    const found = await pointers.find(table.name)
    expect(found?.metadata.properties.other).toBe('writer')
    expect(found?.metadata.snapshots).toHaveLength(2)
    expect(raced).toBe(3)
  })

  it('do not go on for ever', async () => {
    const world = createTablesWorld()
    const pointers = { find: async () => null, replace: async () => false }
    const { behind, goOn } = await world.night([[organizationUsers, users(1)]], { pointers })
    expect(behind.map(({ table, reason }) => [table, reason])).toEqual(
      userTables.map((name) => [
        name,
        `Others changed the table ${name} 5 times while a snapshot was added to it. The next publish adds it.`,
      ]),
    )
    expect(goOn).toBe(true)
  })
})

describe('old snapshots', () => {
  it('expire with their files, and the files of the change log stay', async () => {
    const world = createTablesWorld()
    const retention = { days: 2, snapshots: 2 }
    for (let n = 1; n <= 6; n++) {
      world.clock.advance(day)
      await world.night([[organizationUsers, [user(0, { firstName: `${n}` }), user(1)]]], { retention })
    }
    for (const name of userTables) {
      const { metadata } = (await world.icebergDeps().pointers.find(name))!
      expect(metadata.snapshots.map(({ summary }) => summary['platform-sync.run-id'])).toEqual(['run-5', 'run-6'])
      expect(metadata['snapshot-log']).toHaveLength(2)
    }
    const lists = (await world.objects.list('iceberg/')).filter((key) => key.includes('-snap-'))
    expect(lists).toHaveLength(4)
    expect(await world.objects.list('iceberg/organization_users_current/data/')).toHaveLength(2)
    expect(await world.objects.list('changes/')).toHaveLength(6)
    expect((await contents(world))[table.name]).toHaveLength(7)
  })

  it('stay so many, however old they are', async () => {
    const world = createTablesWorld()
    const retention = { days: 1, snapshots: 3 }
    for (let n = 1; n <= 3; n++) await world.night([[organizationUsers, users(n)]], { retention })
    world.clock.advance(100 * day)
    await world.night([[organizationUsers, users(4)]], { retention })
    expect((await world.icebergDeps().pointers.find(table.name))?.metadata.snapshots).toHaveLength(3)
  })
})

describe('a manifest', () => {
  it('says which days, keys and times are in a file, and how many nulls', async () => {
    const world = createTablesWorld({ objects: createMemoryObjects() })
    await world.night([[organizationUsers, users(3)]])
    const { manifests } = await namedBy(world, table.name)
    const [entry] = decodeManifest((await world.objects.get(manifests[0]!))!, { path: '', sequence: 1 })
    const text = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString()
    const [key] = entry?.file.statistics ?? []
    expect({ ...key, lower: text(key?.lower), upper: text(key?.upper) }).toEqual({
      ...{ id: 1, values: 3, nulls: 0, lower: 'u0', upper: 'u2' },
    })
    expect(entry?.file).toMatchObject({ rows: 3, day: Math.floor(Date.UTC(2026, 4, 6) / day), sortOrderId: 1 })
    const createdAt = entry?.file.statistics.find(({ id }) => id === 3)
    expect(createdAt).toMatchObject({ values: 3, nulls: 3, lower: null, upper: null })
  })
})

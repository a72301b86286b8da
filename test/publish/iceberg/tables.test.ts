import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noDeadline } from '../../../lib/core/deadline.ts'
import { FatalError } from '../../../lib/core/errors.ts'
import { createIcebergTables } from '../../../lib/publish/iceberg/tables.ts'
import { createFolderPointers, readMetadata } from '../../../lib/stores/table-pointers.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { sessions } from '../../../lib/streams/sessions.ts'
import { columnsOf, type Table } from '../../../lib/streams/table.ts'
import { createMemoryBehind } from '../../support/memory/behind.ts'
import { serveTables } from '../../support/tables/table-server.ts'
import { createTablesWorld, type TablesWorld } from '../../support/tables/tables-world.ts'
import { listOf, pagesOf, session, user, users } from '../../sync/support/source.ts'

let world: TablesWorld
let reader: Awaited<ReturnType<typeof serveTables>>
beforeAll(async () => {
  reader = await serveTables(() => world.objects)
})
afterAll(() => reader.close())

function newWorld() {
  world = createTablesWorld({ address: reader.address })
  return world
}

function tagged(id: number, title: string, tags: string[]) {
  return session(id, { title, sessionSettings: { tags: tags.map((name) => ({ name })) } })
}

async function metadataOf(name: string) {
  const hint = await world.objects.get(`iceberg/${name}/metadata/version-hint.text`)
  const key = `iceberg/${name}/metadata/v${Buffer.from(hint ?? []).toString()}.metadata.json`
  return (await readMetadata(key, '', { objects: world.objects, address: '' })).metadata
}

describe('the Iceberg tables', () => {
  it('are what runs published: every change, and one row per live record with its parts', async () => {
    newWorld()
    await world.night([[sessions, [tagged(1, 'a', ['x', 'y']), tagged(2, 'b', ['z'])]]])
    await world.night([[sessions, [tagged(1, 'c', ['x'])]]])
    const log = (await reader.rows('sessions')).map(({ session_id, title, _op, _run_id }) => [
      session_id,
      title,
      _op,
      _run_id,
    ])
    expect(log.sort()).toEqual([
      ['s1', 'a', 'upsert', 'run-1'],
      ['s1', 'c', 'upsert', 'run-2'],
      ['s2', null, 'delete', 'run-2'],
      ['s2', 'b', 'upsert', 'run-1'],
    ])
    const [current, ...others] = await reader.rows('sessions_current')
    expect(others).toEqual([])
    expect(current).toMatchObject({ session_id: 's1', title: 'c', _op: 'upsert', created_at: Date.UTC(2026, 0, 1) })
    expect(Object.keys(current ?? {})).toEqual(columnsOf(sessions.tables[0]).map(({ name }) => name))
    expect(await reader.rows('session_tags_current')).toMatchObject([{ session_id: 's1', position: 0, name: 'x' }])
  })

  it('have a snapshot per run that changed them, which names the run and its scan, and none for a run without changes', async () => {
    newWorld()
    const nights = [users(2), users(3), users(3)]
    for (const list of nights) await world.night([[organizationUsers, list]])
    const { snapshots } = await metadataOf('organization_users')
    expect(snapshots.map(({ summary }) => summary)).toMatchObject([
      {
        operation: 'append',
        'platform-sync.run-id': 'run-1',
        'platform-sync.scan-ids': 'run-1-1',
        'total-records': '2',
      },
      {
        operation: 'append',
        'platform-sync.run-id': 'run-2',
        'platform-sync.scan-ids': 'run-2-2',
        'total-records': '3',
      },
    ])
    expect((await metadataOf('organization_users_current')).snapshots).toHaveLength(2)
  })

  it('begin with one row per record, where the first scan met a record twice', async () => {
    world = createTablesWorld({ address: reader.address, settings: { flushRecords: 1 } })
    const run = world.newRun()
    const newer = { ...tagged(1, 'b', ['y']), updatedAt: Date.UTC(2026, 2, 2) }
    await world.sync(sessions, pagesOf([tagged(1, 'a', ['x'])], [tagged(2, 'c', ['z'])], [newer]), run)
    await world.publishRun(run)
    const titles = async (table: string) => (await reader.rows(table)).map(({ title }) => title).sort()
    expect(await titles('sessions')).toEqual(['a', 'b', 'c'])
    expect(await titles('sessions_current')).toEqual(['b', 'c'])
    const tags = await reader.rows('session_tags_current')
    expect(tags.map(({ name }) => name).sort()).toEqual(['y', 'z'])
  })

  it('keep the right to write however long a publication takes, and stop where it is lost', async () => {
    newWorld()
    await world.sync(organizationUsers, listOf(users(10_000)), { runId: world.newRun().runId })
    const run = world.newRun()
    // A record that is there twice: each row is looked at.
    await world.sync(organizationUsers, listOf([user(0, { firstName: 'Zoe' }), ...users(10_000).slice(1)]), run)
    await world.publishRun(run)
    const manifest = (await world.lake.readManifest(run.runId))!
    const tables = createIcebergTables(
      world.icebergDeps({
        pointers: createFolderPointers({ objects: world.objects, address: 'memory://other' }),
        address: 'memory://other',
      }),
    )
    let asked = 0
    const lost = new FatalError('another publisher goes on', { code: 'lease_lost' })
    const stillMine = async () => {
      asked += 1
      if (asked > 8) throw lost
    }
    const names = new Set(tables.namesOf(['organization_users']))
    const following = tables.follow({
      ...{ names, made: { names, publications: [manifest] }, behind: createMemoryBehind(names, manifest.publishedAt) },
      ...{ signal: new AbortController().signal, stillMine, deadline: noDeadline },
    })
    await expect(following).rejects.toBe(lost)
  })

  it('show a reader that opened them before a publication the old snapshot, whole', async () => {
    newWorld()
    await world.night([[organizationUsers, users(3)]])
    const before = await reader.rows('organization_users_current')
    const old = await metadataOf('organization_users_current')
    const seen: unknown[] = []
    const pointers = world.icebergDeps().pointers
    const watched: typeof pointers = {
      ...pointers,
      replace: async (...args) => {
        seen.push(await reader.rows('organization_users_current'))
        return await pointers.replace(...args)
      },
    }
    await world.night([[organizationUsers, [user(0, { firstName: 'Zoe' }), ...users(3).slice(1)]]], {
      pointers: watched,
    })
    expect(seen).toEqual([before, before])
    expect(await reader.rows('organization_users_current', 1)).toEqual(before)
    expect(old.snapshots).toHaveLength(1)
    expect(await reader.rows('organization_users_current')).toMatchObject([{ first_name: 'Zoe' }, {}, {}])
  })

  it('take a first publication over byte for byte, unless a row of it was replaced before it was published', async () => {
    newWorld()
    const { objects, publishRun } = world
    const dataOf = async (name: string) => {
      const keys = (await objects.list(`iceberg/${name}/data/`)).filter((key) => key.endsWith('.parquet'))
      return Promise.all(keys.map((key) => objects.get(key)))
    }
    const run = world.newRun()
    await world.sync(organizationUsers, listOf(users(3)), { runId: run.runId })
    await world.sync(sessions, listOf([session(1, { title: 'first' }), session(2)]), { runId: run.runId })
    const next = world.newRun()
    await world.sync(sessions, listOf([session(1, { title: 'first' }), session(2, { title: 'later' })]), {
      runId: next.runId,
    })
    await publishRun(next)
    const [published] = (await world.lake.readFiles()).filter(({ table }) => table === 'organization_users')
    expect(await dataOf('organization_users_current')).toEqual([await objects.get(published!.key)])
    expect(await reader.rows('organization_users_current')).toHaveLength(3)
    const current = await reader.rows('sessions_current')
    expect(current.map(({ session_id, title }) => [session_id, title])).toEqual([
      ['s1', 'first'],
      ['s2', 'later'],
    ])
  })

  it('begin with all that was published before there were tables', async () => {
    newWorld()
    await world.night([[sessions, [tagged(1, 'a', ['x']), tagged(2, 'b', ['y'])]]], { streams: [] })
    await world.night([[sessions, [tagged(1, 'a', ['x'])]]], { streams: [] })
    expect(await world.objects.list('iceberg/')).toEqual([])
    await world.night([[sessions, [tagged(1, 'a', ['x']), tagged(3, 'c', [])]]])
    expect(await reader.rows('sessions')).toHaveLength(4)
    expect((await reader.rows('sessions_current')).map(({ session_id }) => session_id)).toEqual(['s1', 's3'])
    expect(await reader.rows('session_tags_current')).toMatchObject([{ session_id: 's1', name: 'x' }])
  })

  it('are made anew where the lake was moved, since addresses in them are whole', async () => {
    newWorld()
    await world.night([[organizationUsers, users(2)]])
    const moved = createTablesWorld({ address: 'file:///elsewhere' })
    for (const key of await world.objects.list('')) await moved.objects.put(key, (await world.objects.get(key))!)
    moved.newRun()
    await moved.night([[organizationUsers, users(3)]])
    world = moved
    expect(await metadataOf('organization_users')).toMatchObject({
      location: 'file:///elsewhere/iceberg/organization_users',
    })
    expect((await metadataOf('organization_users_current')).snapshots[0]?.summary).toMatchObject({
      'total-records': '3',
    })
  })

  it('gain a column that is declared later, and show null where files lack it', async () => {
    newWorld()
    const [table] = computers.tables
    const at = table.columns.findIndex(({ name }) => name === 'hostname')
    const older: Table = {
      ...table,
      columns: table.columns.toSpliced(at, 1),
      read: (record) => {
        const { rows, ...rest } = table.read(record)
        return { ...rest, rows: rows.map(({ cells, ...row }) => ({ ...row, cells: cells.toSpliced(at, 1) })) }
      },
    }
    const olderStream = { ...computers, tables: [older] as const }
    const computer = { id: 'c1', name: 'one', hostname: 'h1', createdAt: Date.UTC(2026, 0, 1) }
    await world.night([[olderStream, [computer]]], { streams: [olderStream] })
    expect((await metadataOf('computers_current')).schemas.map(({ fields }) => fields.length)).toEqual([
      columnsOf(older).length,
    ])
    expect(Object.keys((await reader.rows('computers_current'))[0] ?? {})).not.toContain('hostname')
    await world.night([[computers, [computer, { ...computer, id: 'c2', hostname: 'h2' }]]])
    const { schemas, 'current-schema-id': id } = await metadataOf('computers_current')
    expect(schemas.map(({ fields }) => fields.length)).toEqual([columnsOf(older).length, columnsOf(table).length])
    expect(id).toBe(1)
    const rows = await reader.rows('computers_current')
    expect(rows.map(({ id, hostname }) => [id, hostname])).toEqual([
      ['c1', null],
      ['c2', 'h2'],
    ])
  })
})

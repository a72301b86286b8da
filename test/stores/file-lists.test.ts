import { describe, expect, it } from 'vitest'
import { openLakeDatabase } from '../../lib/cli/lake-database.ts'
import { ask } from '../../lib/cli/query-rows.ts'
import type { Manifest, PublishedFile } from '../../lib/publish/manifest.ts'
import { createPublishingLake } from '../../lib/stores/publishing-lake.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { columnsOf } from '../../lib/streams/table.ts'
import type { PartFile } from '../../lib/sync/checkpoint.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { pathOf, summaryOf, undisturbed, untroubled } from './samples.ts'

function fileOf(key: string): PartFile {
  return { kind: 'changes', table: 'sessions', key, rows: 1, bytes: 9, sha256: 'f'.repeat(64), schemaVersion: '1' }
}
function manifestOf(runId: string, files: PartFile[], publishedAt = '2026-03-01T02:00:00.000Z'): Manifest {
  const { stream, scanId, status, reason, records, counts } = summaryOf({ scanId: `${runId}-1` })
  const times = { startedAt: publishedAt, completedAt: publishedAt }
  const scan = { ...{ stream, scanId, status, reason, records, counts, files }, ...times }
  return { version: 1, runId, publishedAt, scans: [scan] }
}
function setup() {
  const objects = createMemoryObjects()
  const lake = createPublishingLake(objects)
  const keys = async () => (await lake.readFiles()).map(({ key }) => key).sort()
  return { objects, lake, keys }
}

describe('the list of published files', () => {
  it('has a line for each file, an object per month, and says of each which run published it when', async () => {
    const { objects, lake } = setup()
    await lake.addToList(manifestOf('r1', [fileOf('a')]), untroubled)
    await lake.addToList(manifestOf('r2', [fileOf('b'), fileOf('c')]), untroubled)
    await lake.addToList(manifestOf('r3', [fileOf('d')], '2026-04-01T02:00:00.000Z'), untroubled)
    expect(await objects.list('')).toEqual(['manifests/month=2026-03.ndjson', 'manifests/month=2026-04.ndjson'])
    const files = (await lake.readFiles()).map(({ key, runId, publishedAt }) => `${key} ${runId} ${publishedAt}`)
    expect(files).toEqual([
      'a r1 2026-03-01T02:00:00.000Z',
      'b r2 2026-03-01T02:00:00.000Z',
      'c r2 2026-03-01T02:00:00.000Z',
      'd r3 2026-04-01T02:00:00.000Z',
    ])
  })

  it('takes a file once, however often it is told', async () => {
    const { lake, keys } = setup()
    for (const _ of [1, 2]) await lake.addToList(manifestOf('r1', [fileOf('a')]), untroubled)
    expect(await keys()).toEqual(['a'])
  })

  it('is read from the manifests where an older version published alone, and takes those in with the first publication', async () => {
    const { objects, lake, keys } = setup()
    for (const run of ['r1', 'r2']) await lake.writeManifest(manifestOf(run, [fileOf(run)]), untroubled)
    expect(await keys()).toEqual(['r1', 'r2'])
    const next = manifestOf('r3', [fileOf('r3')])
    await lake.writeManifest(next, untroubled)
    await lake.addToList(next, untroubled)
    expect(await keys()).toEqual(['r1', 'r2', 'r3'])
    // Manifests have a term, and what they listed is still there.
    await objects.remove(await objects.list('manifests/run='))
    expect(await keys()).toEqual(['r1', 'r2', 'r3'])
  })

  it('that is not understood is an error, never an empty one', async () => {
    const { objects, lake } = setup()
    await objects.put('manifests/month=2026-03.ndjson', Buffer.from('{"key":1}\n'))
    await expect(lake.readFiles()).rejects.toMatchObject({ code: 'damaged_state' })
  })
})

describe('an installation in its second year', () => {
  const runs = 35_000
  const start = Date.UTC(2026, 0, 1)
  const columns = columnsOf(sessions.tables[0])

  /** A lake with files of sessions in its last runs, and before that a run every quarter of an hour that changed another table. */
  async function lakeOf(before: number) {
    const { objects, lake } = setup()
    const lists = new Map<string, string[]>()
    const add = (n: number, file: PartFile) => {
      const publishedAt = new Date(start + n * 900_000).toISOString()
      const line: PublishedFile = { ...file, runId: `r${n}`, publishedAt, stream: 'sessions', scanId: `r${n}-1` }
      const month = publishedAt.slice(0, 7)
      if (!lists.has(month)) lists.set(month, [])
      lists.get(month)?.push(`${JSON.stringify(line)}\n`)
    }
    for (let n = 0; n < before; n++)
      add(n, { ...fileOf(`changes/enterprise_control_revisions/${n}`), table: 'enterprise_control_revisions' })
    for (let n = before; n < before + 5; n++) {
      const cells = columns.map(({ name, type }) => [
        name === 'session_id' ? `s${n}` : type === 'timestamp' ? start : null,
      ])
      const batch = { table: sessions.tables[0], columns: cells, rows: 1 }
      const part = await lake.writeRows(pathOf({ runId: `r${n}` }), batch, untroubled)
      add(n, (await lake.mergeParts(sessions.tables[0], [part], undisturbed)).files[0]!)
    }
    for (const [month, lines] of lists)
      await objects.put(`manifests/month=${month}.ndjson`, Buffer.from(lines.join('')))
    return { objects, lake }
  }

  async function secondsOfQuery(from: Awaited<ReturnType<typeof lakeOf>>) {
    const before = process.cpuUsage()
    const sql = 'select count(distinct session_id) as n from sessions'
    const { connection, close } = await openLakeDatabase(from, sql)
    expect((await ask(connection, sql)).rows).toEqual([[5]])
    await close()
    // Of the processor: other tests that run at the same time don't count.
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }

  it('answers a question in less than 2 s more than a new one, from as many objects as it is months old (LAKE-07)', async () => {
    const [fresh, old] = [await lakeOf(0), await lakeOf(runs)]
    expect((await old.objects.list('manifests/')).length).toBeLessThan(14)
    const first = await secondsOfQuery(fresh)
    expect((await secondsOfQuery(old)) - first).toBeLessThan(2)
  })
})

import { noDeadline } from '../lib/core/deadline.ts'
import { sha256 } from '../lib/core/hash.ts'
import { createGenerators } from '../lib/local/simulator/generators.ts'
import { settingsOf } from '../lib/local/simulator/options.ts'
import { currentFiles } from '../lib/publish/iceberg/current-files.ts'
import { defaultFileSize } from '../lib/publish/iceberg/ports.ts'
import { createIcebergTables } from '../lib/publish/iceberg/tables.ts'
import type { BehindTable, PublishedFile } from '../lib/publish/manifest.ts'
import type { MadeNow, WarehouseTables } from '../lib/publish/ports.ts'
import { html } from '../lib/report/html.ts'
import { renderPage } from '../lib/report/page.ts'
import { readPictures } from '../lib/report/pictures/read-pictures.ts'
import { pictureSections } from '../lib/report/pictures/sections.ts'
import { pictureStyle } from '../lib/report/pictures/style.ts'
import { partKey, schemaVersion } from '../lib/stores/lake-paths.ts'
import { createLakeRows } from '../lib/stores/lake-rows.ts'
import { encodeParquet, rowFiles } from '../lib/stores/row-files.ts'
import { createFolderPointers } from '../lib/stores/table-pointers.ts'
import { identifiedColumnsOf } from '../lib/streams/field-ids.ts'
import { sessions } from '../lib/streams/sessions.ts'
import { type Cell, columnsOf, type Table } from '../lib/streams/table.ts'
import { Counts } from '../lib/sync/checkpoint.ts'
import { bareStore } from './bare-store.ts'
import type { Figure } from './figures.ts'

const part = 'k'
const sessionCount = 1_000_000
const nightRows = 200_000
const start = Date.UTC(2026, 0, 1, 2)
const never = new AbortController().signal
const address = 'memory://lake'

/** (k) The page of pictures over a lake of many sessions: how long it takes, and how large it is. */
export async function reporting(): Promise<Figure[]> {
  const { rows, now } = await lakeOf(sessionCount)
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  const pictures = await readPictures(rows, { now })
  const page = renderPage({
    title: 'Pictures',
    writtenAt: new Date(now).toISOString(),
    sections: pictureSections(pictures),
    footer: html``,
    style: pictureStyle,
  })
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const of = `the page of pictures over ${sessionCount.toLocaleString('en-US')} sessions`
  return [
    { part, measure: `seconds for ${of}`, value: seconds, unit: 's', aim: { most: 10 } },
    { part, measure: `CPU of ${of}`, value: (user + system) / 1e6, unit: 's', aim: null },
    { part, measure: `size of ${of}`, value: Buffer.byteLength(page) / 1e6, unit: 'MB', aim: { most: 2 } },
    { part, measure: `memory after ${of}`, value: process.memoryUsage.rss() / 1e6, unit: 'MB', aim: null },
  ]
}

/** A lake of sessions that came in some nights, with the tables that engines read. */
async function lakeOf(count: number) {
  const objects = bareStore()
  const settings = settingsOf({ counts: { sessions: count } })
  const generator = createGenerators(settings, { times: [settings.startedAt] }).sessions
  const pointers = createFolderPointers({ objects, address })
  const [table] = sessions.tables
  const files: PublishedFile[] = []
  let attempts = 0
  const tables = createIcebergTables({
    ...{ files: objects, rows: rowFiles, pointers, address, fileSize: defaultFileSize },
    streams: [{ ...sessions, tables: [table] }],
    history: async () => files,
    progressMs: Number.POSITIVE_INFINITY,
    retention: { days: 5, snapshots: 10 },
    clock: { now: () => start, sleep: async () => {} },
    newAttempt: () => `attempt ${++attempts}`,
  })
  for (let from = 0; from < count; from += nightRows) {
    const records = Array.from({ length: Math.min(nightRows, count - from) }, (_, n) => {
      const life = generator.population.at(from + n)
      if (life === undefined) throw new Error(`there is no session at ${from + n}`)
      // Ids in the order in which they come: then a night is added to the table and moves no other row.
      const sessionId = `s${String(from + n).padStart(9, '0')}`
      return { ...generator.record(life, generator.idOf(life)), sessionId }
    })
    const file = await published(objects, table, { records, night: files.length })
    files.push(file)
    const { stream, scanId, runId } = file
    const scan = { stream, scanId, status: 'complete', reason: null, startedAt: '', completedAt: '' } as const
    const counted = { records: file.rows, counts: Counts.parse({}), files: [file] }
    const { publishedAt } = file
    await follow(tables, { runId, publishedAt, scans: [{ ...scan, ...counted }] })
  }
  const rows = createLakeRows({
    ...{ files: objects, rows: rowFiles, lake: { readFiles: async () => files } },
    currentFiles: (of) => currentFiles(of, { files: objects, pointers, address }),
  })
  return { rows, now: settings.startedAt }
}

/** Has the tables of a publication follow it, as a publisher does. */
async function follow(tables: WarehouseTables, publication: MadeNow): Promise<void> {
  const names = new Set(tables.namesOf(publication.scans.map(({ stream }) => stream)))
  const since = publication.publishedAt
  const behind = new Map([...names].map((name) => [name, { since, reason: null, triedAt: 0 } as BehindTable]))
  await tables.follow({
    ...{ names, made: { names, publications: [publication] }, deadline: noDeadline, signal: never },
    stillMine: async () => {},
    behind: {
      of: (name) => behind.get(name),
      note: (name, stands) => void (stands ? behind.set(name, stands) : behind.delete(name)),
      save: async () => {},
    },
  })
  for (const [name, { reason }] of behind) throw new Error(`${name} is behind: ${reason}`)
}

async function published(
  objects: ReturnType<typeof bareStore>,
  table: Table,
  { records, night }: { records: readonly object[]; night: number },
): Promise<PublishedFile> {
  const path = { stream: 'sessions', scanId: `s${night}`, runId: `r${night}`, startedAt: start, part: 0, fence: 1 }
  const columns = columnsOf(table).map((): Cell[] => [])
  for (const [n, record] of records.entries()) {
    const own = table.read(JSON.parse(JSON.stringify(record))).rows[0]?.cells ?? []
    const meta: Cell[] = ['upsert', path.runId, path.scanId, n, start, `${night} ${n}`, null, null]
    for (const [at, cell] of [...own, ...meta].entries()) columns[at]?.push(cell)
  }
  const bytes = encodeParquet(table, identifiedColumnsOf(table), columns)
  const key = partKey('changes', table.name, path)
  await objects.put(key, bytes)
  return {
    ...{
      kind: 'changes',
      table: table.name,
      key,
      rows: records.length,
      bytes: bytes.byteLength,
      sha256: sha256(bytes),
    },
    ...{ schemaVersion: schemaVersion(table), runId: path.runId, scanId: path.scanId, stream: path.stream },
    publishedAt: new Date(start).toISOString(),
  }
}

import type { Reading } from '../platform/paging.ts'
import { currentName, currentQuery } from './current.ts'
import { keyFieldsOf } from './keys.ts'
import { runsColumns, runsTable } from './runs-table.ts'
import { isPlatformStream, type PlatformStream, type Stream, type SyncMode, tablesOf, type Writing } from './stream.ts'
import { type Column, metaColumns, type Table } from './table.ts'

/** The text of docs/streams.md, from the declarations alone. A test keeps the file equal to it. */
export function renderStreamsDoc(streams: readonly Stream[]): string {
  return [
    '# Streams and tables',
    'Generated from `lib/streams/` by `npm run docs`; a test keeps it fresh. § marks sections of [platform.md](platform.md).',
    overview(streams),
    ...reading(streams),
    ...quarantine(),
    ...runs(),
    ...streams.flatMap(section),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

function overview(streams: readonly Stream[]): string {
  return tableOf(
    ['Stream', 'Records', 'Tables'],
    streams.map((stream) => [
      `[${stream.name}](#${stream.name})`,
      stream.doc,
      tablesOf(stream)
        .map((table) => code(table.name))
        .join(', '),
    ]),
  )
}

function reading(streams: readonly Stream[]): string[] {
  const [stream, nested] = exampleOf(streams)
  const main = stream.tables[0]
  return [
    '## How to read the tables',
    'Each table is a change log: a row per version of a record, written when the record is new, changed or gone. An ' +
      'unchanged record writes no row. All tables end with these columns:',
    columnTable(metaColumns),
    'A nested table (any but the first of its stream) holds the elements of a list or map of the record. Its rows belong ' +
      "to the row of the main table with the same key, `_scan_id` and `_sequence`: the nested table's key begins with " +
      "the main table's. A changed record writes all its nested rows again, so that an element which is in no row of " +
      'the newest version is gone.',
    '`<table>_current` shows a table as it is now. It is an [Iceberg table](warehouse.md) with a row per live record, which costs ' +
      'the same however many nights there were: ask that one. The views below make the same of the change log, for who reads ' +
      'its files alone, and take longer with each night ([figures](performance.md#the-lake)). Of a main table: of each key the ' +
      'row with the latest `_synced_at`, then the highest `_sequence`, unless it is a delete.',
    sql(`create view ${currentName(main)} as\n${currentQuery(stream, main)}`),
    'Tables of the audit trail (`enterprise_setting_changes`, `audit_findings`) hang off no record: each row stands for ' +
      'itself, and their `_current` is that of a main table. They are filled where the audit trail is recorded.',
    "Of a nested table: the rows that belong to a row of the main table's `_current`.",
    sql(`create view ${currentName(nested)} as\n${currentQuery(stream, nested)}`),
    'Timestamps are UTC with millisecond precision; fractions of a millisecond are cut. `json` columns hold JSON text. A ' +
      'column of an optional field is null where the field is absent or null. A number with more digits than a double ' +
      'holds is the nearest double; its digits stay in the record of the records table.',
    ...invalid(),
    ...files(),
  ]
}

function invalid(): string[] {
  return [
    '## Values that do not fit: `_invalid`',
    'A field whose value has an unforeseen form costs its column and nothing else: the column is null, the row stays, and ' +
      '`_invalid` tells what came, as a list of `{"field": ..., "reason": ..., "value": ...}`. So does a field that must ' +
      'hold a value and is null or missing, a time that stands for one that is not set (0, "", the year 1), and a time ' +
      'out of any plausible range. A value of more than 2,000 characters of JSON is cut; the records table has the whole ' +
      'record. An empty list where an object belongs is an empty object, and says nothing here.',
    'The main row tells all of its record. A nested row tells what is wrong with its own element, named from there. An ' +
      'element that is no object has no row, and a list that is none has no rows: the main row says so. What stands ' +
      'inside of a `json` column has no column of its own, and is kept as it came.',
    sql(
      "select id, m ->> 'field' as field, m ->> 'reason' as reason\nfrom computers_current, unnest(from_json(_invalid, '[\"json\"]')) as t(m)",
    ),
    'How many records had such a value stands in the counts of a scan (`invalid`), by field: in the manifest, in the record of ' +
      'the run, and in `platform-sync status`. A scan is `suspect` when a field that must hold a value has an unforeseen ' +
      'form in all of its records, or in more than 10 and more than 20 %. It deletes nothing then, and what can be used is published.',
  ]
}

function files(): string[] {
  return [
    '## Where the files are, and what to load',
    'A scan that one run began and another one ended is one scan. Its files lie under the date and the run that began it ' +
      '(`changes/<table>/dt=.../run=.../`), and its rows carry that run in `_run_id` and that time in `_synced_at`. The ' +
      'manifest of the run that published it, which may be a later one, lists them.',
    'So load by list, not by folder. `manifests/month=<YYYY-MM>.ndjson` has a line for each file that was published in a ' +
      'month: `table`, `key`, `rows`, `bytes`, `sha256`, and the `runId` and `publishedAt` of its publication. Each file ' +
      'is in one list, once, and a file in none does not count. Remember the newest `publishedAt` that was loaded, and load ' +
      'what is newer. `manifests/run=<runId>.json` lists the same for one run, with the counts of its scans, and is ' +
      'removed after some time; `manifests/latest.json` is a copy of the newest.',
    'A run that changed nothing publishes nothing: it has no manifest. When each list was last read whole, ' +
      '`platform-sync status` says, and so does the view `_freshness` in `platform-sync query`: `stream`, `complete_at` ' +
      '(when its last complete scan began), `scan_ended_at`, `scan_status`, `records`. Messages are as fresh as the ' +
      'sessions, unless lists of these are to be read yet.',
    'A table has few files: one for each night and table, or as many as its size asks for (64 MB, 250,000 rows). A file is ' +
      'sorted by the primary key, and its row groups have bounds of keys, numbers and times, by which readers skip. Times ' +
      'are UTC in microseconds (files of earlier versions: milliseconds), and each column has its id (`field_id`), by which ' +
      'it is found whatever it is called.',
  ]
}

function quarantine(): string[] {
  return [
    '## Quarantine',
    'A record that no table can take is kept under `quarantine/` in the lake: one without a usable primary key, one that ' +
      'is no object, and one that is nested deeper than 200 levels. The files are those that are listed with `kind` ' +
      '`quarantine`. They are gzipped JSON, one object per line. `platform-sync query` shows them as the view ' +
      '`quarantine`. A record that stays as it is comes again with each scan. A scan is `suspect` when that befell all of ' +
      'its records, or more than 10 and more than 20 %.',
    tableOf(
      ['Field', 'Type', 'Meaning'],
      [
        ['stream', 'string', 'The stream that the record came in.'],
        ['key', 'string', 'Its primary key, null where none can be read.'],
        ['reasons', 'list of strings', 'Why no table can take it.'],
        ['raw', 'json', 'The record as it came, with secrets replaced: JSON text in a string.'],
        ['run_id', 'string', 'The run that began the scan.'],
        ['scan_id', 'string', 'The scan that received it.'],
      ].map(([name = '', ...cells]) => [code(name), ...cells]),
    ),
  ]
}

function runs(): string[] {
  return [
    `## ${runsTable.name}`,
    `${runsTable.doc} Key: ${runsTable.key.map(code).join(', ')}. It lies in \`runs/\`, a file per month, and has none of the columns that ` +
      'all other tables end with. [How to ask it](warehouse.md#is-last-night-in).',
    columnTable(runsColumns),
  ]
}

/** A stream with a nested table, to show how the two hang together. */
function exampleOf(streams: readonly Stream[]): [Stream, Table] {
  for (const stream of streams) if (stream.tables[1]) return [stream, stream.tables[1]]
  throw new TypeError('No stream has a nested table: the docs need another example.')
}

function section(stream: Stream): string[] {
  const { name, doc, mode, parent, secretPaths, changedAt, personal = [], writing } = stream
  const facts = [
    `- Sync mode: ${modes[mode]}`,
    ...(isPlatformStream(stream)
      ? listFacts(stream)
      : ["- Source: this worker's own records, not a list of the platform"]),
    `- Primary key: ${keyFieldsOf(stream).map(code).join(', ')}`,
    ...(parent ? [`- Parent: one list per record of ${code(parent.stream.name)}`] : []),
    ...(mode !== 'append'
      ? [`- Copies of a record within a scan: the one ${changedAt ? 'changed' : 'read'} last wins`]
      : []),
    ...(personal.length > 0 ? [`- [Personal data](privacy.md#fields): ${personal.map(code).join(', ')}`] : []),
    ...(writing ? [`- [Written by people and models](privacy.md#messages): all but ${factsOf(writing)}`] : []),
    ...(secretPaths.length > 0
      ? [`- [Replaced by fingerprints](redaction.md): ${secretPaths.map(code).join(', ')}`]
      : []),
  ]
  return [`## ${name}`, doc, facts.join('\n'), ...tablesOf(stream).flatMap(tableSection)]
}

function factsOf({ role, ids, facts }: Writing): string {
  return [...ids, role, ...facts].map(code).join(', ')
}

const modes: Record<SyncMode, string> = {
  full_refresh: 'full refresh with change detection',
  append: 'append',
  incremental: 'incremental, the lists of parents that changed',
}

/** Stands in an address for the id of a parent. */
const parentPlaceholder = '{parent}'

function listFacts({ reading }: PlatformStream): string[] {
  const { endpoint } = reading.request({ token: null, parent: parentPlaceholder })
  const address = endpoint.base === 'app' ? 'app_url' : 'base_url'
  const path = decodeURIComponent(endpoint.path)
  return [`- Endpoint: \`GET {${address}}${path}\``, `- Paging: ${pagingDoc(reading)}`]
}

/** Read off the parameters that a request for a later page carries. */
function pagingDoc({ request }: Reading): string {
  const parameters = Object.entries(request({ token: 'token', parent: parentPlaceholder }).query)
  const token = parameters.find(([, value]) => value === 'token')?.[0]
  const limit = parameters.find(([name]) => name === 'limit')?.[1]
  return token === undefined ? 'none, the list answers whole' : `by ${code(token)}, ${limit} records a page`
}

function tableSection(table: Table): string[] {
  return [
    `### Table ${code(table.name)}`,
    `${table.doc} Key: ${table.key.map(code).join(', ')}.`,
    columnTable(table.columns),
  ]
}

function columnTable(columns: readonly Column[]): string {
  return tableOf(
    ['Column', 'Type', 'Meaning'],
    columns.map(({ name, type, doc }) => [code(name), type, doc]),
  )
}

function tableOf(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`).join('\n')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
function code(text: string): string {
  return `\`${text}\``
}
function sql(text: string): string {
  return `\`\`\`sql\n${text};\n\`\`\``
}

import { currentName } from '../../streams/current.ts'
import { runsColumns, runsTable } from '../../streams/runs-table.ts'
import { type Stream, tablesOf } from '../../streams/stream.ts'
import { type Column, columnsOf, type Table } from '../../streams/table.ts'
import { hasHistory, historyName, packageName, runsSource } from './models.ts'

/** Lines of YAML, moved to the right. */
function inside(lines: readonly string[], by = 2): string[] {
  return lines.map((line) => (line === '' ? line : `${' '.repeat(by)}${line}`))
}

/** An entry of a list. */
function item(lines: readonly string[]): string[] {
  return inside(lines).map((line, at) => (at === 0 ? line.replace(/^ {2}/, '- ') : line))
}

/** A text that YAML reads as it is. dbt would take braces for code. */
function text(value: string): string {
  return JSON.stringify(value.replaceAll('{{', '{ {').replaceAll('{%', '{ %'))
}

type Tests = (column: string) => readonly string[]

function described({ name, doc }: { name: string; doc: string }): string[] {
  return [`name: ${name}`, `description: ${text(doc)}`]
}

function columnsSection(columns: readonly Pick<Column, 'name' | 'doc'>[], tests: Tests = () => []): string[] {
  const entries = columns.map((column) => {
    const own = tests(column.name)
    return item([...described(column), ...(own.length > 0 ? [`data_tests: [${own.join(', ')}]`] : [])])
  })
  return ['columns:', ...inside(entries.flat())]
}

type Source = { name: string; doc: string; schema: string; tables: readonly string[] }

function sourceEntry({ name, doc, schema, tables }: Source): string[] {
  return item([
    ...described({ name, doc }),
    `database: "{{ var('platform_sync_database', target.database) }}"`,
    `schema: "${schema}"`,
    'tables:',
    ...inside(tables),
  ])
}

const schemaVariable = "var('platform_sync_schema', 'platform_sync')"

/** models/sources.yml: the change logs and the table of runs, with what their columns mean. */
export function sourcesFile(streams: readonly Stream[]): string {
  const logs = streams
    .flatMap(tablesOf)
    .flatMap((table) => item([...described(table), ...columnsSection(columnsOf(table))]))
  const runs = item([
    ...described(runsTable),
    'loaded_at_field: finished_at',
    'freshness:',
    ...inside(['warn_after: {count: 26, period: hour}', 'error_after: {count: 50, period: hour}']),
    ...columnsSection(runsColumns, (name) => (['run_id', 'stream'].includes(name) ? ['not_null'] : [])),
  ])
  const doc = 'Change logs of the Agent Platform: a row per version of a record.'
  return [
    'version: 2',
    'sources:',
    ...inside(sourceEntry({ name: packageName, doc, schema: `{{ ${schemaVariable} }}`, tables: logs })),
    ...inside(
      sourceEntry({
        name: runsSource,
        doc: 'How the runs went that filled them.',
        schema: `{{ var('platform_sync_runs_schema', ${schemaVariable}) }}`,
        tables: runs,
      }),
    ),
    '',
  ].join('\n')
}

const periodColumns = [
  { name: 'valid_from', doc: 'When the scan began that saw this version first.' },
  { name: 'valid_to', doc: 'When the scan began that saw the next one, or that it was gone. Null while it stands.' },
]

/** models/models.yml: what each model is, and tests of its keys. */
export function modelsFile(streams: readonly Stream[]): string {
  const models = streams.flatMap((stream) =>
    tablesOf(stream).flatMap((table) => [
      ...currentEntry(table),
      ...(hasHistory(stream, table) ? historyEntry(table) : []),
    ]),
  )
  const freshness = item([
    ...described({ name: 'stream_freshness', doc: 'How fresh each stream is: is last night in?' }),
    ...columnsSection(
      [
        { name: 'stream', doc: 'The stream.' },
        { name: 'complete_at', doc: 'When the last scan began that read its list whole.' },
        { name: 'finished_at', doc: 'When the last run of it ended.' },
      ],
      (name) => (name === 'stream' ? ['not_null', 'unique'] : []),
    ),
  ])
  return ['version: 2', 'models:', ...inside([...models, ...freshness]), ''].join('\n')
}

function currentEntry(table: Table): string[] {
  const tests: Tests = (name) => {
    if (!table.key.includes(name)) return []
    return table.key.length === 1 ? ['not_null', 'unique'] : ['not_null']
  }
  return item([
    ...described({ name: currentName(table), doc: `As it is now: ${table.doc}` }),
    ...columnsSection(columnsOf(table), tests),
  ])
}

function historyEntry(table: Table): string[] {
  const required = [...table.key, 'valid_from']
  const keys = columnsOf(table).filter(({ name }) => table.key.includes(name))
  return item([
    ...described({ name: historyName(table), doc: `Each version, and when it stood: ${table.doc}` }),
    ...columnsSection([...keys, ...periodColumns], (name) => (required.includes(name) ? ['not_null'] : [])),
  ])
}

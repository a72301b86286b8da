import type { PublishedFile } from '../../publish/manifest.ts'
import { type KnownValues, knownValuesIn, unknownFieldsIn } from '../../streams/known.ts'
import type { Stream } from '../../streams/stream.ts'
import { type Cell, columnsOf } from '../../streams/table.ts'
import { type FileRows, newestFiles } from './file-rows.ts'
import type { StreamRun } from './history.ts'

/** Something that the schema of a stream does not know: a value of an enumeration, or (without `value`) a field. */
export type Unknown = { field: string; value: string | null; rows: number; since: string }

/** What came that no schema knows: the new and changed records of the last runs that had it, and what their files show of it. */
export type Drift = { stream: string; records: number; found: readonly Unknown[]; left: number }

const told = 8
/** Names of fields, and values, are the platform's: of a longer one, this much tells which it is. */
const characters = 60

/** Finds what is unknown in the files of those runs whose counts say that something was. */
export async function readDrift(
  { stream, runs, files }: { stream: Stream; runs: readonly StreamRun[]; files: readonly PublishedFile[] },
  rows: Pick<FileRows, 'read'>,
): Promise<Drift | null> {
  const drifted = runs.filter(({ counts }) => (counts?.drifted ?? 0) > 0)
  if (drifted.length === 0) return null
  const [main] = stream.tables
  const runIds = new Set(drifted.map(({ runId }) => runId))
  const ofRuns = files.filter((file) => file.kind === 'changes' && file.table === main.name && runIds.has(file.runId))
  const found = new Map<string, Unknown>()
  const enumerations = knownValuesIn(stream)
  const extra = columnsOf(main).filter(({ name }) => name === '_extra')
  const columns = [...enumerations.map(({ column }) => column), ...extra]
  for (const file of newestFiles(ofRuns)) {
    for await (const cells of rows.read(file, columns)) lookInto(cells, { stream, enumerations, file, found })
  }
  const most = [...found.values()].sort((a, b) => b.rows - a.rows || (a.field < b.field ? -1 : 1))
  return {
    stream: stream.name,
    records: drifted.reduce((sum, { counts }) => sum + (counts?.drifted ?? 0), 0),
    found: most.slice(0, told),
    left: Math.max(0, most.length - told),
  }
}

type Looking = {
  stream: Stream
  enumerations: readonly KnownValues[]
  file: PublishedFile
  found: Map<string, Unknown>
}

function lookInto(cells: readonly (readonly Cell[])[], { stream, enumerations, file, found }: Looking): void {
  const note = (name: string, text: string | null) => {
    const [field, value] = [short(name), text === null ? null : short(text)]
    const id = JSON.stringify([field, value])
    const { rows = 0 } = found.get(id) ?? {}
    // Files come newest first: the last one that has it is the oldest.
    found.set(id, { field, value, rows: rows + 1, since: file.publishedAt })
  }
  for (const [at, { path, known }] of enumerations.entries()) {
    for (const cell of cells[at] ?? []) if (typeof cell === 'string' && !known.has(cell)) note(path, cell)
  }
  for (const cell of cells[enumerations.length] ?? []) {
    if (typeof cell !== 'string') continue
    for (const path of unknownFieldsIn(stream.schema, JSON.parse(cell))) note(path, null)
  }
}

function short(text: string): string {
  const all = [...text]
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join('')}…`
}

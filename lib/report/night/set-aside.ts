import type { PublishedFile } from '../../publish/manifest.ts'
import type { Stream } from '../../streams/stream.ts'
import { columnsOf } from '../../streams/table.ts'
import { type FileRows, newestFiles } from './file-rows.ts'
import type { Standing } from './standing.ts'

/** Why records are in quarantine, and how many for each reason. No part of a record is in it. */
export type Quarantine = { stream: string; records: number; reasons: readonly { reason: string; records: number }[] }

/** A field with values that its column could not take: in how many records, and what is wrong with a first one. */
export type InvalidField = { stream: string; field: string; records: number; example: string | null }

type Looked = { standing: Standing; stream: Stream; files: readonly PublishedFile[] }

const told = 5

/** Finds the reasons in the newest quarantine of a stream whose last scan put records there. */
export async function readQuarantine(
  { standing, files }: Omit<Looked, 'stream'>,
  rows: Pick<FileRows, 'reasons'>,
): Promise<Quarantine | null> {
  const { stream, quarantined } = standing
  if (!quarantined) return null
  const ofStream = newestFiles(files.filter(({ kind, table }) => kind === 'quarantine' && table === stream))
  const newest = ofStream.filter(({ runId }) => runId === ofStream[0]?.runId)
  const counts = new Map<string, number>()
  for (const file of newest) {
    for (const reasons of await rows.reasons(file)) {
      const reason = reasons.join('; ')
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, told)
  return { stream, records: quarantined, reasons: most.map(([reason, records]) => ({ reason, records })) }
}

/** Tells the fields with values of an unforeseen form, the most frequent first, each with what is wrong with one of them. */
export async function readInvalid(
  { standing, stream, files }: Looked,
  rows: Pick<FileRows, 'read'>,
): Promise<InvalidField[]> {
  const fields = Object.entries(standing.invalid).sort(([, a], [, b]) => b - a)
  if (fields.length === 0) return []
  const examples = await examplesOf({ stream, files, fields: fields.map(([field]) => field) }, rows)
  return fields.map(([field, records]) => ({
    ...{ stream: stream.name, field, records },
    example: examples.get(field) ?? null,
  }))
}

type Wanted = { stream: Stream; files: readonly PublishedFile[]; fields: readonly string[] }

/** A record that did not change since was written by an earlier run: files are looked through from the newest back. */
async function examplesOf({ stream, files, fields }: Wanted, rows: Pick<FileRows, 'read'>) {
  const [main] = stream.tables
  const examples = new Map<string, string>()
  const places = fields.map((field) => ({ field, place: placeOf(field) }))
  const columns = columnsOf(main).filter(({ name }) => name === '_invalid')
  for (const file of newestFiles(files.filter(({ kind, table }) => kind === 'changes' && table === main.name))) {
    for await (const [cells = []] of rows.read(file, columns)) {
      for (const cell of cells) {
        if (typeof cell !== 'string') continue
        for (const { field: at, reason } of JSON.parse(cell) as { field: string; reason: string }[]) {
          const found = places.find(({ field, place }) => !examples.has(field) && place.test(at))
          if (found) examples.set(found.field, reason)
        }
      }
    }
    if (examples.size === fields.length) break
  }
  return examples
}

/** A field is counted without its places in lists and maps, `steps[].name`; an example has them, `steps[2].name`. */
function placeOf(counted: string): RegExp {
  const pattern = counted.replaceAll(/[\\^$.|?+(){}[\]*]/g, '\\$&').replaceAll('\\[\\]', '\\[.*\\]')
  return new RegExp(`^${pattern.replaceAll('\\*', '.*')}$`, 's')
}

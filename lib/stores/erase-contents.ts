import { promisify } from 'node:util'
import { gunzip, gzip, zstdDecompress } from 'node:zlib'
import { messageOf } from '../core/errors.ts'
import type { Finder } from '../erase/person.ts'
import type { Contents, Rewritten } from '../erase/ports.ts'
import { isWorkbook, workbookTable } from '../limits/intake/workbook.ts'
import { decodeAvro } from '../publish/iceberg/avro.ts'
import { decodeIndex } from '../sync/index-format.ts'
import { rowsWithout, textRows } from './erase-rows.ts'
import { partExtension } from './lake-paths.ts'
import { openPart, wholePart } from './part-rows.ts'

const unzip = promisify(gunzip)
const zip = promisify(gzip)

/** Contents of the objects that this project writes, and of files that people drop. */
export const contents: Contents = {
  mentions: async (key, bytes, finder) => {
    let count = 0
    for await (const text of textsOf(key, bytes)) if (finder.isIn(text)) count += 1
    return count
  },
  rewriteFile: ({ stream, key, bytes }, finder) =>
    key.endsWith('.parquet')
      ? rowsWithout({ stream, key, bytes }, finder)
      : linesWithout(bytes, stream.about !== undefined, finder),
  rewriteText: async (key, bytes, finder) => {
    const text = cleaned((key.endsWith('.gz') ? await unzip(bytes) : Buffer.from(bytes)).toString(), finder)
    return key.endsWith('.gz') ? await zip(text) : Buffer.from(text)
  },
  cells: async (_stream, bytes, columns) => {
    const rows: (string | null)[][] = []
    for await (const row of textRows(bytes, columns)) rows.push(row)
    return rows
  },
}

/** What a person could be named in, piece by piece: rows, lines, entries. */
async function* textsOf(key: string, bytes: Uint8Array): AsyncGenerator<string> {
  if (bytes.byteLength === 0) return
  if (key.endsWith('.parquet'))
    for await (const row of textRows(bytes)) yield row.filter((cell) => cell !== null).join('\n')
  else if (key.endsWith(`.${partExtension}`)) yield* partTexts(key, bytes)
  else if (key.endsWith('.avro')) for (const record of decodeAvro(bytes, key).records) yield textIn(record).join('\n')
  else if (key.endsWith('.bin.zst')) yield* indexTexts(await promisify(zstdDecompress)(bytes))
  else if (key.endsWith('.gz')) yield* (await unzip(bytes)).toString().split('\n')
  else if (isWorkbook(bytes)) yield* workbookTexts(bytes)
  else yield* Buffer.from(bytes).toString().split('\n')
}

async function* partTexts(key: string, bytes: Uint8Array): AsyncGenerator<string> {
  const { columns, groups } = await openPart(wholePart(key, bytes))
  for await (const group of groups(columns)) for (const cells of group) yield cells.join('\n')
}

function* indexTexts(bytes: Uint8Array): Generator<string> {
  const { header, entries } = decodeIndex(bytes)
  yield JSON.stringify(header)
  for (const { key } of entries) yield key
}

/** All texts in what Avro holds; bounds of columns are bytes. */
function textIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textIn) : []
}

/** The rows of a workbook. One that can't be read is told by its reason: what is in it is not known. */
async function* workbookTexts(bytes: Uint8Array): AsyncGenerator<string> {
  const { rows } = await workbookTable(bytes).catch((error: unknown) => ({ rows: [messageOf(error)] }))
  for (const row of rows) yield JSON.stringify(row)
}

/** Text, or lines, in which a record is a line. */
function cleaned(text: string, finder: Finder): string {
  return text
    .split('\n')
    .map((line) => (finder.isIn(line) ? finder.without(line) : line))
    .join('\n')
}

/** Lines of a quarantine. A record about a person can't be told from one that names them: it goes. */
async function linesWithout(bytes: Uint8Array, dropLines: boolean, finder: Finder): Promise<Rewritten> {
  const lines = (await unzip(bytes))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
  const kept = dropLines ? lines.filter((line) => !finder.isIn(line)) : lines
  if (kept.length === 0) return null
  const text = kept.map((line) => `${finder.isIn(line) ? finder.without(line) : line}\n`).join('')
  return { bytes: await zip(text), rows: kept.length }
}

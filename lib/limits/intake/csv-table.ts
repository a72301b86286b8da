import { excerpt } from '../entries.ts'
import { columnsFound, unreadable } from './columns.ts'
import { csvRecords } from './csv-records.ts'
import type { FileTable } from './table.ts'

/** What may stand between the cells, by its name. */
const delimiters: ReadonlyMap<string, string> = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
])

/** The beginning of a text in which its header is looked for. */
const headLength = 10_000

/**
 * The rows of a CSV text: UTF-8 or UTF-16, with cells between commas, semicolons or tabs. The header tells which, or
 * Excel's own first line.
 * @throws RejectedError `bad_request` when its encoding or its delimiter is another one.
 */
export function csvTable(bytes: Uint8Array): FileTable {
  const { text, encoding } = decoded(bytes)
  const [line, said] = /^"?sep=([^\r\n]*?)"?(?=\r|\n|$)/i.exec(text) ?? []
  // The line is blanked and not cut off, so that all others keep their numbers.
  const body = line === undefined ? text : text.slice(line.length)
  const delimiter = said === undefined ? delimiterIn(body) : said
  const name = delimiters.get(delimiter)
  if (name === undefined) {
    const shown = JSON.stringify(`sep=${excerpt(delimiter, 10)}`)
    throw unreadable(`its first line, ${shown}, names a separator that is not read. Use commas, semicolons or tabs`)
  }
  const notes = [
    ...(encoding === 'UTF-8' ? [] : [`The file was read as ${encoding}.`]),
    ...(delimiter === ',' ? [] : [`Its cells are separated by ${name}.`]),
  ]
  return { rows: csvRecords(body, delimiter), sameWidth: true, notes }
}

/** The delimiter that makes a header with the columns that are read, or the one that makes most cells. */
function delimiterIn(text: string): string {
  const head = text.slice(0, headLength)
  let best = { delimiter: ',', score: 0 }
  for (const delimiter of delimiters.keys()) {
    const [first] = csvRecords(head, delimiter)
    const cells = first && 'cells' in first ? first.cells.length : 0
    const score = columnsFound(first) * headLength + cells
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

function decoded(bytes: Uint8Array): { text: string; encoding: string } {
  const [first, second] = bytes
  // Without a BOM, an ASCII header in UTF-16 has a zero in each unit.
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return decode(bytes, 'UTF-16LE')
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return decode(bytes, 'UTF-16BE')
  return decode(bytes, 'UTF-8')
}

function decode(bytes: Uint8Array, encoding: string): { text: string; encoding: string } {
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding }
  } catch {
    throw unreadable(`it is not ${encoding} text. Save it as "CSV UTF-8" or as an Excel workbook`)
  }
}

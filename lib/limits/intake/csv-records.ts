import { parse } from 'csv-parse/sync'
import { excerpt } from '../entries.ts'
import { type BrokenRow, excerptLength } from './table.ts'

/** A record of a CSV text with the line it begins on, or why there is none. */
export type CsvRecord = { line: number; cells: string[] } | BrokenRow

type Parsed = { record: string[]; info: { bytes: number } }

/** The number of misplaced quotes after which a text is no CSV. */
const maxRestarts = 100
const misplacedQuote = 'a quote stands where none may stand'

/**
 * The records of a CSV text, blank lines left out, and those of nothing but empty cells, which spreadsheets write for rows
 * that were cleared. A misplaced quote costs its own line: it is reported, and the text is read on from the line after it,
 * where csv-parse would take all up to the next quote for one cell.
 */
export function csvRecords(text: string, delimiter = ','): CsvRecord[] {
  const records: CsvRecord[] = []
  const lines = text.replace(/^\ufeff/, '').split(/(?<=\r\n|\n|\r(?!\n))/)
  let from = 0
  for (let restarts = 0; restarts <= maxRestarts; restarts++) {
    const { found, misplacedLine } = parsePart(lines.slice(from).join(''), delimiter)
    for (const { line, cells } of found) records.push({ line: from + line, cells })
    if (misplacedLine === null) return records
    from += misplacedLine
    records.push({ line: from, reason: misplacedQuote, text: excerpt(lines[from - 1] ?? '', excerptLength) })
  }
  records.push({ line: from + 1, reason: 'too many lines have misplaced quotes; the rest was not read', text: '' })
  return records
}

class MisplacedQuote extends Error {}

/** Parses up to the first misplaced quote; `misplacedLine` is where its record begins. */
function parsePart(
  text: string,
  delimiter: string,
): { found: { line: number; cells: string[] }[]; misplacedLine: number | null } {
  const bytes = Buffer.from(text)
  const found: { line: number; cells: string[] }[] = []
  // The parser's own count of lines takes a CRLF inside quotes for two; its count of bytes is right.
  let end = 0
  let line = 1
  const onRecord = ({ record, info }: Parsed): null => {
    if (record.some((cell) => cell.trim() !== '')) found.push({ line, cells: record })
    line += breaksIn(bytes.subarray(end, info.bytes).toString())
    end = info.bytes
    return null
  }
  const onSkip = (): undefined => {
    throw new MisplacedQuote()
  }
  try {
    parse(bytes, {
      info: true,
      delimiter,
      relax_column_count: true,
      skip_records_with_error: true,
      on_record: onRecord as never,
      on_skip: onSkip,
    })
  } catch (error) {
    if (error instanceof MisplacedQuote) return { found, misplacedLine: line }
    throw error
  }
  return { found, misplacedLine: null }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

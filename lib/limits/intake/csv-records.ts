import { parse } from 'csv-parse/sync'
import { excerpt } from '../excerpt.ts'

/** A record of a CSV text with the line it begins on, or why there is none. */
export type CsvRecord = { line: number; cells: string[] } | { line: number; reason: string; text: string }

type Parsed = { record: string[]; info: { bytes: number } }

/** How much of a bad row a report shows. */
export const excerptLength = 80
/** After so many quotes that go astray the text is no CSV. */
const maxRestarts = 100
const astray = 'a quote stands where none may stand'

/**
 * The records of a CSV text, blank lines left out, and those of nothing but empty cells, which spreadsheets write for rows
 * that were cleared. A quote that stands wrong costs its own line: it is reported, and the
 * text is read on from the line after it, where csv-parse would take all up to the next quote for one cell.
 */
export function csvRecords(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  const lines = text.replace(/^\ufeff/, '').split(/(?<=\r\n|\n|\r(?!\n))/)
  let from = 0
  for (let restarts = 0; restarts <= maxRestarts; restarts++) {
    const { found, strayLine } = parsePart(lines.slice(from).join(''))
    for (const { line, cells } of found) records.push({ line: from + line, cells })
    if (strayLine === null) return records
    from += strayLine
    records.push({ line: from, reason: astray, text: excerpt(lines[from - 1] ?? '', excerptLength) })
  }
  records.push({ line: from + 1, reason: 'too many lines have misplaced quotes; the rest was not read', text: '' })
  return records
}

class StrayQuote extends Error {}

/** Parses up to the first misplaced quote; `strayLine` is where its record begins. */
function parsePart(text: string): { found: { line: number; cells: string[] }[]; strayLine: number | null } {
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
    throw new StrayQuote()
  }
  try {
    parse(bytes, {
      info: true,
      relax_column_count: true,
      skip_records_with_error: true,
      on_record: onRecord as never,
      on_skip: onSkip,
    })
  } catch (error) {
    if (error instanceof StrayQuote) return { found, strayLine: line }
    throw error
  }
  return { found, strayLine: null }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

import { parse } from 'csv-parse/sync'

/** A record of a CSV text with the line it begins on, or why there is none. */
export type CsvRecord = { line: number; cells: string[] } | { line: number; reason: string; text: string }

type Info = { lines: number }
type Skipped = { lines?: number; code?: string } | undefined

/** After so many quotes that go astray the text is no CSV. */
const maxRestarts = 100
const excerptLength = 80
const astray = 'a quote stands where none may stand'

/**
 * The records of a CSV text, blank lines left out. A quote that stands wrong costs its own line: it is reported, and the
 * text is read on from the line after it, where csv-parse would take all up to the next quote for one cell.
 */
export const csvRecords = (text: string): CsvRecord[] => {
  const records: CsvRecord[] = []
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/)
  let from = 0
  for (let restarts = 0; restarts <= maxRestarts; restarts++) {
    const { found, strayLine } = parsePart(lines.slice(from).join(''), from)
    if (strayLine === null) return [...records, ...found]
    records.push(...found.filter(({ line }) => line < strayLine))
    records.push({ line: strayLine, reason: astray, text: excerpt(lines[strayLine - 1] ?? '') })
    from = strayLine
  }
  records.push({ line: from + 1, reason: 'too many lines have misplaced quotes; the rest was not read', text: '' })
  return records
}

/** Parses lines from `from` on; `strayLine` is where a record begins whose quotes leave its end unclear. */
const parsePart = (text: string, from: number): { found: CsvRecord[]; strayLine: number | null } => {
  const found: CsvRecord[] = []
  let strayLine: number | null = null
  const onSkip = (error: Skipped, raw = ''): undefined => {
    if (strayLine !== null) return
    // At the end of the text the parser has counted a line more than there is when the last one is complete.
    const at = error?.code === 'CSV_QUOTE_NOT_CLOSED' ? breaksIn(text) + 1 : (error?.lines ?? 1)
    if (error?.code === 'INVALID_OPENING_QUOTE') {
      found.push({ line: from + at, reason: astray, text: excerpt(raw) })
    } else strayLine = from + at - breaksIn(raw)
  }
  const parsed = parse(text, {
    bom: true,
    info: true,
    raw: true,
    relax_column_count: true,
    skip_records_with_error: true,
    on_skip: onSkip,
  }) as unknown as { record: string[]; info: Info; raw: string }[]
  for (const { record, info, raw } of parsed) {
    if (record.length === 1 && record[0]?.trim() === '') continue
    found.push({ line: from + info.lines - breaksIn(raw.replace(/\r\n$|[\r\n]$/, '')), cells: record })
  }
  return { found: found.sort((a, b) => a.line - b.line), strayLine }
}

const breaksIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0

const excerpt = (text: string): string => text.trim().slice(0, excerptLength).toWellFormed()

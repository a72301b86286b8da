import type { EntryOrigin } from '../../streams/limit-outcome.ts'
import { type EmailAddress, readEmail } from '../email.ts'
import { faultOfLimit, type LimitRules } from '../entries.ts'
import { faultOfUntil } from '../until.ts'
import { type Columns, columnsOf } from './columns.ts'
import { unguarded } from './csv.ts'
import { readLimit } from './limit-cell.ts'
import { type BrokenRow, columnLetters, type FileTable, rowText, type TableCell, type TableRow } from './table.ts'

/** A row that can be applied. Lines count from 1, the header included. */
export type LimitRow = EmailAddress & { line: number; limit: number } & EntryOrigin

/**
 * The rows of a file. `aboveMaximum`: lines among the invalid ones whose limit is larger than allowed. `notes`: how the
 * file was read, for whoever sent it.
 */
export type LimitRows = { rows: LimitRow[]; invalid: BrokenRow[]; aboveMaximum: number[]; notes: string[] }

type Judged = LimitRow | (BrokenRow & { aboveMaximum?: true })
type Rules = Pick<LimitRules, 'maxLimit'>

/**
 * Reads the limits in a table, and until when each stands where a column says so. A bad row is reported with its line and column, and stops no other; columns that are not
 * asked for are passed over and named.
 * @throws RejectedError `bad_request` when the header does not say which columns are meant.
 */
export function limitRowsOf({ rows: [header, ...rest], sameWidth, notes }: FileTable, rules: Rules): LimitRows {
  const result: LimitRows = { rows: [], invalid: [], aboveMaximum: [], notes: [...notes] }
  if (!header) return result
  const columns = columnsOf(header)
  if (columns.unused.length > 0) result.notes.push(`Columns that are not used: ${columns.unused.join(', ')}.`)
  for (const raw of rest) {
    const row = judge(raw, { columns, sameWidth, rules })
    if (!('reason' in row)) result.rows.push(row)
    else {
      result.invalid.push({ line: row.line, reason: row.reason, text: row.text })
      if (row.aboveMaximum) result.aboveMaximum.push(row.line)
    }
  }
  return result
}

function judge(
  row: TableRow | BrokenRow,
  { columns, sameWidth, rules }: { columns: Columns; sameWidth: boolean; rules: Rules },
): Judged {
  if (!('cells' in row)) return row
  const { line, cells } = row
  const bad = (reason: string): BrokenRow => ({ line, reason, text: rowText(cells) })
  if (sameWidth && cells.length !== columns.count) {
    return bad(`it has ${cells.length} cells, and the header has ${columns.count}`)
  }
  const at = (column: 'email' | 'limit' | 'until') => `column ${columnLetters(columns[column] ?? 0)} (${column}): `
  const email = emailIn(cells[columns.email])
  if ('reason' in email) return bad(at('email') + email.reason)
  const read = readLimit(cells[columns.limit] ?? '')
  if ('reason' in read) return bad(at('limit') + read.reason)
  const until = columns.until === null ? undefined : untilIn(cells[columns.until])
  const untilFault = faultOfUntil(until)
  if (untilFault !== null) return bad(at('until') + untilFault)
  const fault = faultOfLimit(read.limit, rules)
  if (fault === null) return { line, ...email, limit: read.limit, ...(until === undefined ? {} : { until }) }
  return { ...bad(at('limit') + fault), aboveMaximum: true }
}

function emailIn(cell: TableCell = ''): EmailAddress | { reason: string } {
  return typeof cell === 'object' ? { reason: cell.fault } : readEmail(unguarded(String(cell)))
}

function untilIn(cell: TableCell = ''): string | undefined {
  return (typeof cell === 'object' ? (cell.day ?? cell.shown) : String(cell).trim()) || undefined
}

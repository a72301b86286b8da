import { RejectedError } from '../../core/errors.ts'
import type { EntryOrigin } from '../../streams/limit-outcome.ts'
import { type EmailAddress, readEmail } from '../email.ts'
import { excerpt, faultOfLimit, type LimitRules } from '../entries.ts'
import { faultOfUntil } from '../until.ts'
import { type CsvRecord, csvRecords, excerptLength } from './csv-records.ts'

/** A row that can be applied. Lines count from 1, the header included. */
export type LimitRow = EmailAddress & { line: number; limit: number } & EntryOrigin

/** A row that can't, with what it says. */
export type BadRow = { line: number; reason: string; text: string }

/** The rows of a file. `aboveMaximum`: lines among the invalid ones whose limit is larger than allowed. */
export type LimitRows = { rows: LimitRow[]; invalid: BadRow[]; aboveMaximum: number[] }

/** Places of the columns; `until` may be missing (-1). */
type CsvColumns = { email: number; limit: number; until: number; count: number }

/**
 * Reads a CSV file with the columns `email`, `limit` and, if it likes, `until`, as spreadsheets and HR systems write it;
 * other columns are passed over. A bad row is reported with its line and stops no other.
 * @throws RejectedError `bad_request` when the file as a whole can't be read: encoding, delimiter, header.
 */
export function readLimitsCsv(bytes: Uint8Array, rules: Pick<LimitRules, 'maxLimit'>): LimitRows {
  const [header, ...records] = withoutSeparatorLine(csvRecords(textOf(bytes)))
  const result: LimitRows = { rows: [], invalid: [], aboveMaximum: [] }
  if (!header) return result
  const columns = columnsOf(header)
  for (const record of records) {
    const row = 'cells' in record ? rowOf(record, columns, rules) : record
    if (!('reason' in row)) result.rows.push(row)
    else {
      result.invalid.push({ line: row.line, reason: row.reason, text: row.text })
      if ('aboveMaximum' in row) result.aboveMaximum.push(row.line)
    }
  }
  return result
}

function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw unreadable('it is UTF-16 text. Save it as "CSV UTF-8"')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw unreadable('it is not UTF-8 text. Save it as "CSV UTF-8"')
  }
}

// Excel's own first line, which says by what the cells are separated.
function withoutSeparatorLine(records: CsvRecord[]): CsvRecord[] {
  const [first] = records
  const [, separator] = (first && 'cells' in first && /^sep=(.*)$/i.exec(first.cells.join(','))) || []
  if (separator === undefined) return records
  if (separator === ',') return records.slice(1)
  throw unreadable(
    `its first line, ${JSON.stringify(`sep=${excerpt(separator, 10)}`)}, says that no comma separates its cells. Separate them by commas`,
  )
}

function columnsOf(header: CsvRecord): CsvColumns {
  if (!('cells' in header)) throw unreadable(`its header, line ${header.line}, is broken: ${header.reason}`)
  const names = header.cells.map((cell) => cell.trim().toLowerCase())
  const [only = ''] = names
  if (names.length === 1 && /[;\t]/.test(only)) {
    throw unreadable(
      `its cells are separated by ${only.includes(';') ? 'semicolons' : 'tabs'}. Separate them by commas`,
    )
  }
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i)
  if (twice !== undefined) throw unreadable(`its header names the column "${twice.slice(0, 40)}" twice`)
  const [email, limit] = [names.indexOf('email'), names.indexOf('limit')]
  if (email === -1 || limit === -1) throw unreadable('its first line must be a header with the columns email and limit')
  return { email, limit, until: names.indexOf('until'), count: names.length }
}

function rowOf(
  { line, cells }: { line: number; cells: string[] },
  columns: CsvColumns,
  rules: Pick<LimitRules, 'maxLimit'>,
): LimitRow | BadRow | (BadRow & { aboveMaximum: true }) {
  const bad = (reason: string): BadRow => ({ line, reason, text: excerpt(cells.join(','), excerptLength) })
  if (cells.length !== columns.count) return bad(`it has ${cells.length} cells, and the header has ${columns.count}`)
  const email = readEmail(unguarded(cells[columns.email] ?? ''))
  if ('reason' in email) return bad(email.reason)
  const limit = limitOf(cells[columns.limit] ?? '')
  const until = cells[columns.until]?.trim() || undefined
  const untilFault = faultOfUntil(until)
  if (untilFault !== null) return bad(untilFault)
  const fault = faultOfLimit(limit, rules)
  if (fault === null) return { line, ...email, limit: limit as number, ...(until ? { until } : {}) }
  return Number.isSafeInteger(limit) ? { ...bad(fault), aboveMaximum: true } : bad(fault)
}

// Digits only: 1.000 and 1,000 are a thousand to some and one to others, and Number() reads 1e3, 0x10 and blanks, too.
function limitOf(cell: string): unknown {
  return /^\d{1,16}$/.test(cell) ? Number(cell) : cell === '' ? '' : Number.NaN
}

// What a spreadsheet would take for a formula, and any number of guards before it.
const formula = /^'*[=+\-@\t\r]/

/** The CSV of limits, for people and for `limits plan`. Cells that a spreadsheet would run are guarded by an apostrophe. */
export function writeLimitsCsv(rows: Iterable<{ address: string; limit: number }>): string {
  let text = 'email,limit\r\n'
  for (const { address, limit } of rows) text += `${csvCell(address)},${limit}\r\n`
  return text
}

/** One cell, quoted where CSV needs it and guarded where a spreadsheet would take it for a formula. */
export function csvCell(value: string): string {
  const guarded = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

/** A cell as it was before `csvCell` guarded it. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell
}

function unreadable(why: string) {
  return new RejectedError(`The file with credit limits can't be read: ${why}, and try again.`, { code: 'bad_request' })
}

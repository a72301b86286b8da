import { RejectedError } from '../../core/errors.ts'
import { excerpt } from '../entries.ts'
import { type BrokenRow, cellText, columnLetters, type TableRow } from './table.ts'

/**
 * The column of each thing that is read, from 0, and null where `until` is missing; how many there are, and the names of
 * those that are passed over.
 */
export type Columns = { email: number; limit: number; until: number | null; count: number; unused: string[] }

/** The headers that mean a column without doubt, compared without case, blanks and signs: `E-Mail`, `credit_limit`. */
const spellings = {
  email: ['email', 'mail', 'emailaddress', 'mailaddress', 'useremail', 'emailadresse', 'mailadresse'],
  limit: ['limit', 'creditlimit', 'usercreditlimit', 'kreditlimit'],
  until: ['until', 'validuntil', 'gültigbis'],
}

/** Finds the columns in a header. @throws RejectedError `bad_request` when it has not each of them once. */
export function columnsOf(header: TableRow | BrokenRow): Columns {
  if (!('cells' in header)) throw unreadable(`its header, line ${header.line}, is broken: ${header.reason}`)
  const names = header.cells.map((cell) => excerpt(cellText(cell), 40))
  const [email, limit, until] = [onlyOne('email', names), onlyOne('limit', names), onlyOne('until', names)]
  if (email === null || limit === null) {
    const found = names.filter((name) => name !== '').slice(0, 10)
    const has = found.length > 0 ? `, and has ${found.map((name) => `"${name}"`).join(', ')}` : ''
    throw unreadable(`its first row, line ${header.line}, must be a header with the columns email and limit${has}`)
  }
  const unused = names.flatMap((name, at) =>
    at === email || at === limit || at === until || name === '' ? [] : [`${name} (${columnLetters(at)})`],
  )
  return { email, limit, until, count: names.length, unused }
}

/** Counts those of the columns that a file must have. */
export function columnsFound(header: TableRow | BrokenRow | undefined): number {
  if (!header || !('cells' in header)) return 0
  const names = header.cells.map(cellText)
  return (['email', 'limit'] as const).filter((column) => placesOf(column, names).length > 0).length
}

/** The columns of a header that hold e-mail addresses, from 0: those named just so, else those of another spelling. */
export function emailColumns(header: TableRow | BrokenRow | undefined): number[] {
  const names = header && 'cells' in header ? header.cells.map(cellText) : []
  const places = placesOf('email', names)
  const exact = places.filter((at) => names[at]?.trim().toLowerCase() === 'email')
  return exact.length > 0 ? exact : places
}

/** An error about a file as a whole: what is wrong with it, and what to do about it. */
export function unreadable(why: string): RejectedError {
  return new RejectedError(`The file with credit limits can't be read: ${why}, and try again.`, { code: 'bad_request' })
}

function onlyOne(column: keyof typeof spellings, names: readonly string[]): number | null {
  const [first, second] = placesOf(column, names)
  if (first === undefined) return null
  if (second === undefined) return first
  const [one, other] = [`"${names[first]}" (${columnLetters(first)})`, `"${names[second]}" (${columnLetters(second)})`]
  throw unreadable(`its header names the column ${column} twice, as ${one} and ${other}. Remove one of them`)
}

function placesOf(column: keyof typeof spellings, names: readonly string[]): number[] {
  return names.flatMap((name, at) => (spellings[column].includes(letters(name)) ? [at] : []))
}

function letters(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

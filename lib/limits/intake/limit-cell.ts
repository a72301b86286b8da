import type { TableCell } from './table.ts'

/** The limit of a cell, or why it is none. */
export function readLimit(cell: TableCell): { limit: number } | { reason: string } {
  if (typeof cell === 'object') return { reason: cell.fault }
  if (typeof cell === 'string') return limitOfText(cell)
  if (!Number.isInteger(cell)) return { reason: `the cell holds ${cell}, whatever it shows; a limit has no decimals` }
  if (cell < 0 || Object.is(cell, -0)) return { reason: 'a limit is not negative' }
  return Number.isSafeInteger(cell) ? { limit: cell } : { reason: 'it has more digits than a number keeps exactly' }
}

const groups = /^[+-]?\d{1,3}(?:[.,'’\p{Zs}]\d{3})+(?:[.,]\d+)?$/u

/** Other forms of a number, and why each is refused: it means one thing to some and another to others. */
const otherForms: readonly [form: RegExp, reason: string][] = [
  [/^\s*$/u, 'the limit is missing'],
  [/^[+-]?(?:\d+[.,]?\d*|[.,]\d+)e[+-]?\d+$/i, 'it is in scientific notation, of which spreadsheets drop digits'],
  [groups, 'its thousands are set apart, which others read as decimals'],
  [/^[+-]?(?:\d+[.,]\d*|[.,]\d+)$/, 'a limit has no decimals'],
  [/^-\d+$/, 'a limit is not negative'],
  [/^[+-]?0x[\da-f]+$/i, 'it is hexadecimal'],
  [/^\s*\d+\s*$/u, 'it has blanks around its digits'],
]

// Digits only: 1.000 and 1,000 are a thousand to some and one to others, and Number() reads 1e3, 0x10 and blanks, too.
function limitOfText(text: string): { limit: number } | { reason: string } {
  if (/^\d+$/.test(text)) {
    const limit = Number(text)
    return Number.isSafeInteger(limit) ? { limit } : { reason: 'it has more digits than a number keeps exactly' }
  }
  const [, reason = 'it is no number'] = otherForms.find(([form]) => form.test(text)) ?? []
  return { reason: text.trim() === '' ? reason : `${reason}. Write digits only, as 1000` }
}

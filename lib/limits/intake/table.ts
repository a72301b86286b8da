import { excerpt } from '../entries.ts'

/**
 * A cell of a file: its text, a number that a spreadsheet stored, or why it is neither and what it shows. `day`: it is a
 * day of the calendar.
 */
export type TableCell = string | number | { fault: string; shown: string; day?: string }

/** A row with the line it begins on, from 1. */
export type TableRow = { line: number; cells: TableCell[] }

/** A row that can't be read at all, with what it says. */
export type BrokenRow = { line: number; reason: string; text: string }

/** The rows of a file, header first, whatever the file's form is; rows without any value are left out. */
export type FileTable = {
  rows: (TableRow | BrokenRow)[]
  /** True when a row with more or fewer cells than the header is a mistake, as a comma too many is in a CSV. */
  sameWidth: boolean
  /** What whoever sent the file should know of how it was read. */
  notes: string[]
}

/** The text of a cell, as a report quotes it. */
export function cellText(cell: TableCell): string {
  return typeof cell === 'object' ? cell.shown : String(cell)
}

/** The letters that name a column in a spreadsheet, counted from 0: A, B, ... Z, AA. */
export function columnLetters(column: number): string {
  const rest = Math.floor(column / 26) - 1
  return (rest < 0 ? '' : columnLetters(rest)) + String.fromCharCode(65 + (column % 26))
}

/** The length of the beginning of a bad row that a report shows. */
export const excerptLength = 80

/** The beginning of a row, as a report quotes it. */
export function rowText(cells: readonly TableCell[]): string {
  return excerpt(cells.map(cellText).join(','), excerptLength)
}

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

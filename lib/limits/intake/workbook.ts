import { type Cell, type CellValue, readXlsx, type Sheet, streamXlsxRows } from 'hucre/xlsx'
import { excerpt } from '../entries.ts'
import { columnsFound, unreadable } from './columns.ts'
import { checkUnpackedSize } from './packed.ts'
import { type BrokenRow, type FileTable, rowText, type TableCell, type TableRow } from './table.ts'

/** The most cells of all sheets, empty ones within their bounds included: what a small function can hold. */
const maxCells = 400_000
const maxSheets = 50

/** Tells a workbook of Excel from text by its beginning: a ZIP archive, or the container of old and encrypted workbooks. */
export function isWorkbook(bytes: Uint8Array): boolean {
  return beginsWith(bytes, [0x50, 0x4b]) || beginsWith(bytes, oldContainer)
}

const oldContainer = [0xd0, 0xcf, 0x11, 0xe0]

/**
 * The rows of the sheet of a workbook that has the columns which are read. Hidden sheets are passed over, and hidden rows
 * are mistakes: whoever sees the sheet can't mean them.
 * @throws RejectedError `bad_request` when it is no workbook that can be read, or when several sheets have the columns.
 */
export async function workbookTable(bytes: Uint8Array): Promise<FileTable> {
  if (beginsWith(bytes, oldContainer)) {
    throw unreadable(
      'it is an Excel file of the old form (.xls), or has a password. Save it as .xlsx without a password',
    )
  }
  checkUnpackedSize(bytes)
  const places: number[] = []
  await asWorkbook(
    readXlsx(bytes, {
      sheets: ({ index, hidden, veryHidden }) => {
        if (!hidden && !veryHidden) places.push(index)
        return false
      },
    }),
  )
  await checkBounds(bytes, places)
  const { sheets } = await asWorkbook(readXlsx(bytes, { sheets: places }))
  return onlySheet(sheets.map((sheet) => ({ name: sheet.name, rows: rowsOf(sheet) })))
}

type NamedRows = { name: string; rows: FileTable['rows'] }

function onlySheet(sheets: NamedRows[]): FileTable {
  const withColumns = sheets.filter(({ rows: [header] }) => columnsFound(header) === 2)
  if (withColumns.length > 1) {
    const names = withColumns.map(({ name }) => `"${shownName(name)}"`).join(' and ')
    throw unreadable(`its sheets ${names} all have the columns email and limit. Keep one of them`)
  }
  const sheet = withColumns[0] ?? sheets.find(({ rows }) => rows.length > 0)
  const others = sheets.filter((other) => other !== sheet).length
  const rest = others === 0 ? '' : `; ${others} other sheet${others === 1 ? '' : 's'} had no part in it`
  const notes = sheet ? [`The sheet "${shownName(sheet.name)}" was read${rest}.`] : []
  return { rows: sheet?.rows ?? [], sameWidth: false, notes }
}

function shownName(name: string): string {
  return excerpt(name, 40)
}

/** Refuses sheets whose cells would fill the memory. They are read row by row for that, so that a far corner costs nothing. */
async function checkBounds(bytes: Uint8Array, sheets: readonly number[]): Promise<void> {
  const advice = 'Copy the two columns into a new workbook'
  if (sheets.length > maxSheets) throw unreadable(`it has more than ${maxSheets} sheets. ${advice}`)
  let left = maxCells
  const fits = async (sheet: number): Promise<boolean> => {
    let size = 0
    let width = 0
    for await (const { index, values } of streamXlsxRows(bytes, { sheet })) {
      width = Math.max(width, values.length)
      size = (index + 1) * width
      if (size > left) return false
    }
    left -= size
    return true
  }
  for (const sheet of sheets) {
    if (!(await asWorkbook(fits(sheet)))) throw unreadable(`its sheets have more than ${maxCells} cells. ${advice}`)
  }
}

function rowsOf({ rows, cells, rowDefs }: Sheet): FileTable['rows'] {
  return rows.flatMap((values, at): (TableRow | BrokenRow)[] => {
    const row = values.map((value, column) => cellOf(value, cells?.get(`${at},${column}`)))
    if (row.every((cell) => typeof cell === 'string' && cell.trim() === '')) return []
    if (!rowDefs?.get(at)?.hidden) return [{ line: at + 1, cells: row }]
    return [{ line: at + 1, reason: 'the row is hidden. Show it or delete it', text: rowText(row) }]
  })
}

function cellOf(value: CellValue, cell: Cell | undefined): TableCell {
  if (value instanceof Date) return dateCell(value)
  if (cell?.type === 'error') return { fault: 'the cell holds an error of a formula', shown: String(value) }
  if (typeof value === 'boolean') return { fault: 'the cell holds yes or no', shown: String(value).toUpperCase() }
  if (value !== null) return value
  if (cell?.formula === undefined) return ''
  return { fault: 'the formula has no stored result: save the file with Excel', shown: `=${cell.formula}` }
}

function dateCell(value: Date): TableCell {
  const fault = 'the cell holds a date'
  if (Number.isNaN(value.getTime())) return { fault, shown: 'a date' }
  const [day = '', time = ''] = value.toISOString().split('T')
  return time === '00:00:00.000Z' ? { fault, shown: day, day } : { fault, shown: value.toISOString() }
}

/** Whatever the reader can't make sense of is the file's fault. */
async function asWorkbook<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch {
    throw unreadable('it is no Excel workbook, or a damaged one. Save it as .xlsx, or as "CSV UTF-8"')
  }
}

function beginsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte)
}

import { type Head, number, plain, tableText, widthOf } from './output.ts'
import type { Answer, Value } from './query-rows.ts'

/** The ways in which rows are printed. */
export const formats = ['table', 'record', 'json', 'csv'] as const
export type Format = (typeof formats)[number]

const shownRows = 200
const shownRecords = 20
const cellWidths = [400, 100, 80, 60, 50, 40, 32, 24, 16]
const recordCell = 2_000

/** Prints an answer in a format. A table is cut to the width of the terminal. */
export function answerText(answer: Answer, { format, width }: { format: Format; width: number }): string {
  return render[format](answer, width)
}

/** The format that shows rows whole to a person: records, where the table does not fit however its cells are cut. */
export function fittingFormat(answer: Answer, width: number): Format {
  return answer.rows.length > 0 && widthOf(answerTable(answer, width)) > width ? 'record' : 'table'
}

/** Rows as a table for people: the first ones, with long texts and heads cut as far as the width asks for it. */
export function answerTable({ columns, numeric, rows }: Answer, width: number): string {
  const shown = rows.slice(0, shownRows).map((row) => row.map(textOf))
  let table = ''
  for (const most of cellWidths) {
    const heads = columns.map((title, at): Head => ({ title: cut(title, most), right: numeric[at] === true }))
    table = tableText(
      heads,
      shown.map((row) => row.map((text) => cut(text, most))),
    )
    if (widthOf(table) <= width) break
  }
  return table
}

/** Rows as paragraphs, a line per column: for rows that are wider than any line. */
function recordText({ columns, rows }: Answer): string {
  const width = Math.max(...columns.map((name) => name.length))
  const shown = rows.slice(0, shownRecords)
  return shown
    .map((row, at) => {
      const cells = columns.map((name, i) =>
        `${plain(name).padEnd(width)}  ${cut(textOf(row[i]), recordCell)}`.trimEnd(),
      )
      return [`── ${number(at + 1)} of ${number(rows.length)}`, ...cells].join('\n')
    })
    .join('\n')
}

function counted({ length }: readonly unknown[], shown: number): string {
  const more = length > shown ? `, of which ${shown} are shown (--format csv or json shows all)` : ''
  return `${number(length)} row${length === 1 ? '' : 's'}${more}\n`
}

const render: Record<Format, (answer: Answer, width: number) => string> = {
  table: (answer, width) => `${answerTable(answer, width)}\n\n${counted(answer.rows, shownRows)}`,
  record: (answer) =>
    `${answer.rows.length > 0 ? `${recordText(answer)}\n\n` : ''}${counted(answer.rows, shownRecords)}`,
  json: ({ columns, rows }) =>
    `${JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]))),
      null,
      2,
    )}\n`,
  csv: ({ columns, rows }) =>
    [columns, ...rows].map((cells) => `${cells.map((value) => csvCell(textOf(value))).join(',')}\n`).join(''),
}

function textOf(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function cut(text: string, most: number): string {
  const line = plain(text.replaceAll(/\s+/g, ' '))
  if (line.length <= most) return line
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

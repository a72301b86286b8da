import type { Chart, Field, Value } from './picture.ts'
import { others } from './rank.ts'
import { cut, valueText } from './words.ts'

type Rows = readonly (readonly Value[])[]

/** A table behind a picture, column by column. */
type Told = { fields: readonly Field[]; rows: Rows }

/** How much of a name a sentence takes. */
const longestName = 40

/** A picture in words, for those who can't see it, and for those who have no time. */
export function summaryOf(chart: Chart, told: Told): string {
  if (chart.kind === 'columns') return `${total(told, chart.y)}. Most on ${top(told, chart.y)}.`
  if (chart.kind === 'upAndDown') return `${total(told, chart.up)}, ${total(told, chart.down)}.`
  if (chart.kind === 'line') return `Latest: ${lineOf(told, chart.y, told.rows.at(-1))}.`
  if (chart.kind === 'none') return `${told.rows.length} in the list.`
  const field = fieldNamed(told, chart.length)
  const named = told.rows.filter(([name]) => name !== others)
  const first = `${lineOf(told, chart.length, named[0])}`
  if (field.kind === 'share') return `Least: ${first}.`
  return named.length > 1 ? `First: ${first}, then ${lineOf(told, chart.length, named[1])}.` : `${first}.`
}

function fieldNamed({ fields }: Told, name: string): Field {
  return fields.find((field) => field.name === name) as Field
}

function cellNamed({ fields }: Told, name: string, row: readonly Value[] | undefined): Value {
  return row?.[fields.findIndex((field) => field.name === name)] ?? null
}

function total(told: Told, name: string): string {
  const { kind, title } = fieldNamed(told, name)
  const sum = told.rows.reduce((all, row) => all + Number(cellNamed(told, name, row) ?? 0), 0)
  return `${valueText(sum, kind)} ${title.toLowerCase()}`
}

function top(told: Told, name: string): string {
  const of = (row: readonly Value[] | undefined) => Number(cellNamed(told, name, row) ?? 0)
  return lineOf(
    told,
    name,
    told.rows.reduce((best, row) => (of(row) > of(best) ? row : best), told.rows[0] ?? []),
  )
}

/** What a row says: its first cell, and one of the others. */
function lineOf(told: Told, name: string, row: readonly Value[] | undefined): string {
  const value = cellNamed(told, name, row)
  return `${cut(String(row?.[0] ?? ''), longestName)} (${value === null ? 'unknown' : valueText(value, fieldNamed(told, name).kind)})`
}

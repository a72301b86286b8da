import { draw } from './draw.ts'
import { beginOf, endOf, type Period } from './periods.ts'
import type { Field, Picture, Value, View } from './picture.ts'
import { valueText } from './words.ts'

/** Draws a picture in a period. `rows` is the table behind it. */
export function drawView(
  picture: Picture,
  { period, now, rows }: { period: Period; now: number; rows: readonly (readonly Value[])[] },
): View {
  const fields = picture.source.fields(period)
  const title = picture.title(period)
  const summary = rows.length === 0 ? picture.empty : summaryOf(fields, rows)
  const span = { from: beginOf(period, now), to: endOf(now) }
  const svg = draw({ chart: picture.chart(period), fields, rows, ...span, unit: picture.unit, title, summary })
  return { period, title, sql: picture.source.sql(period, now), fields, rows, summary, svg }
}

/** The picture in words: what it adds up to, and where it is highest. */
function summaryOf(fields: readonly Field[], rows: readonly (readonly Value[])[]): string {
  const [first] = fields
  const sums = fields.flatMap((field, at) => {
    if (field.kind !== 'count' && field.kind !== 'amount') return []
    const sum = rows.reduce((total, row) => total + (typeof row[at] === 'number' ? row[at] : 0), 0)
    return [`${valueText(sum, field.kind)} ${field.title.toLowerCase()}`]
  })
  const at = fields.findIndex(({ kind }) => kind === 'count' || kind === 'amount')
  const most = rows.reduce((best, row) => (Number(row[at] ?? 0) > Number(best[at] ?? 0) ? row : best), rows[0] ?? [])
  const highest = first ? `Most: ${valueText(most[0] ?? null, first.kind)}.` : ''
  return `Together ${sums.join(', ')}. ${highest}`
}

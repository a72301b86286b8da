import { draw } from './draw.ts'
import { beginOf, endOf, type Period } from './periods.ts'
import type { Picture, Value, View } from './picture.ts'
import { summaryOf } from './summary.ts'

/** Draws a picture in a period. `rows` is the table behind it. */
export function drawView(
  picture: Picture,
  { period, now, rows }: { period: Period; now: number; rows: readonly (readonly Value[])[] },
): View {
  const fields = picture.source.fields(period)
  const chart = picture.chart(period)
  const title = picture.title(period)
  const summary = rows.length === 0 ? picture.empty : summaryOf(chart, { fields, rows })
  const span = { from: beginOf(period, now), to: endOf(now) }
  const svg = draw({ chart, fields, rows, ...span, unit: picture.unit, title, summary })
  return { period, title, sql: picture.source.sql(period, now), fields, rows, summary, svg }
}

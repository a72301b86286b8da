import * as Plot from '@observablehq/plot'
import { colour, column, type Drawing, numberOf, timeOf } from './drawing.ts'
import { dayMs } from './periods.ts'
import type { Chart, Field, Value } from './picture.ts'
import { tickText, valueText } from './words.ts'

const height = 230

/** A column of the table as columns of a picture, up or down. */
type Series = { field: string; sign: 1 | -1; colour: number }

/** Columns side by side, one per day or week; `upAndDown`: two of them, from zero in both directions. */
export function columnsOf(drawing: Drawing, chart: Chart & { kind: 'columns' | 'upAndDown' }): Plot.PlotOptions {
  const series: Series[] =
    chart.kind === 'columns'
      ? [{ field: chart.y, sign: 1, colour: 1 }]
      : [
          { field: chart.up, sign: 1, colour: 1 },
          { field: chart.down, sign: -1, colour: 2 },
        ]
  const { cellOf: when } = column(drawing, chart.x)
  const step = (chart.x === 'week' ? 7 : 1) * dayMs
  const columns = series.map(({ field, ...look }) => ({ ...look, ...column(drawing, field) }))
  const marks = columns.map(({ cellOf, field, sign, colour: n }) =>
    Plot.rectY(drawing.rows, {
      x1: (row) => new Date(timeOf(when(row))),
      x2: (row) => new Date(timeOf(when(row)) + step),
      y: (row) => sign * numberOf(cellOf(row)),
      insetLeft: 0.4,
      insetRight: 0.4,
      fill: colour(n),
      title: (row) => `${when(row)}: ${valueText(cellOf(row), field.kind)}`,
    }),
  )
  const values = columns.flatMap(({ cellOf }) => drawing.rows.map((row) => numberOf(cellOf(row))))
  const y = amounts(drawing, { kind: columns[0]?.field.kind ?? 'count', values })
  return { ...overTime(drawing, when, step), y, marks: [...marks, Plot.ruleY([0])] }
}

/** A line over time, with its points; or in steps, each of which holds until the next one and the last one to the end. */
export function lineOf(drawing: Drawing, { x, y, steps }: Chart & { kind: 'line' }): Plot.PlotOptions {
  const { cellOf: when } = column(drawing, x)
  const { cellOf, field } = column(drawing, y)
  const points = drawing.rows
    .filter((row) => cellOf(row) !== null)
    .map((row) => ({ at: timeOf(when(row)), value: numberOf(cellOf(row)) }))
  const last = points.at(-1)
  const line = steps && last ? [...points, { at: drawing.to, value: last.value }] : points
  const place = { x: ({ at }: { at: number }) => new Date(at), y: 'value', stroke: colour(1) }
  const scale = amounts(drawing, { kind: field.kind, values: points.map(({ value }) => value) })
  return {
    ...overTime(drawing, when, 0),
    y: { ...scale, ...(field.kind === 'share' ? { domain: [0, 1] } : { zero: true }) },
    marks: [
      Plot.lineY(line, { ...place, strokeWidth: 2, curve: steps ? 'step-after' : 'linear' }),
      Plot.dot(points, { ...place, fill: 'var(--paper)', r: steps || points.length > 60 ? 0 : 2.2 }),
      Plot.ruleY([0]),
    ],
  }
}

function overTime({ rows, from, to }: Drawing, when: (row: readonly Value[]) => Value, step: number) {
  const times = rows.map((row) => timeOf(when(row)))
  const first = from ?? times.reduce((a, b) => Math.min(a, b), to)
  const last = times.reduce((a, b) => Math.max(a, b + step), to)
  return {
    height,
    marginLeft: 44,
    marginRight: 14,
    marginTop: 26,
    marginBottom: 36,
    x: { type: 'utc', domain: [new Date(first), new Date(last)], label: null, ticks: 5 },
  } as const
}

/** A scale of amounts. Between two sessions there is no half one, so that few of them have few lines. */
function amounts({ unit }: Drawing, { kind, values }: { kind: Field['kind']; values: readonly number[] }) {
  const most = values.reduce((a, b) => Math.max(a, b), 1)
  return {
    label: unit,
    labelArrow: 'none',
    grid: true,
    ticks: kind === 'count' ? Math.min(4, most) : 4,
    tickSize: 0,
    tickFormat: (value: number) => tickText(Math.abs(value), kind),
  } satisfies Plot.ScaleOptions
}

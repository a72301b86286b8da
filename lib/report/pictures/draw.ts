import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { dayMs } from './periods.ts'
import type { Chart, Field, Value } from './picture.ts'
import { cut, tickText, valueText } from './words.ts'

/** A table to draw: `from` and `to` are Unix ms, where the time axis begins and ends. */
export type Drawing = {
  readonly chart: Chart
  readonly fields: readonly Field[]
  readonly rows: readonly (readonly Value[])[]
  readonly from: number | null
  readonly to: number
  readonly unit: string
  /** The picture for those who can't see it: its name, and what it says. */
  readonly title: string
  readonly summary: string
}

/** The size of a picture, in its own units. It scales with the page: two beside each other on a desk, one on a phone. */
const width = 460
const height = 230
const barHeight = 24
/** How much of a name fits beside a bar. */
const longestLabel = 22

/** A picture of a table as SVG; null where nothing can be drawn. Colours and fonts are the page's. */
export function draw(drawing: Drawing): string | null {
  if (drawing.rows.length === 0) return null
  const options = optionsOf(drawing)
  if (options === null) return null
  const { document } = parseHTML('<html></html>')
  const svg = Plot.plot({
    document,
    className: 'plot',
    width,
    ariaLabel: drawing.title,
    ariaDescription: drawing.summary,
    ...options,
  })
  svg.setAttribute('role', 'img')
  return compacted(svg.outerHTML)
}

function optionsOf(drawing: Drawing): Plot.PlotOptions | null {
  const { chart } = drawing
  if (chart.kind === 'columns') return columnsOf(drawing, [{ field: chart.y, sign: 1, colour: 1 }], chart.x)
  if (chart.kind === 'upAndDown') {
    const marks: Series[] = [
      { field: chart.up, sign: 1, colour: 1 },
      { field: chart.down, sign: -1, colour: 2 },
    ]
    return columnsOf(drawing, marks, chart.x)
  }
  if (chart.kind === 'line') return lineOf(drawing, chart)
  return chart.kind === 'bars' ? barsOf(drawing, chart) : null
}

function colour(n: number): string {
  return `var(--picture-${n})`
}

function column(drawing: Drawing, name: string) {
  const at = drawing.fields.findIndex((field) => field.name === name)
  return { field: drawing.fields[at] as Field, cellOf: (row: readonly Value[]) => row[at] ?? null }
}

function numberOf(value: Value): number {
  return typeof value === 'number' ? value : 0
}

function timeOf(value: Value): number {
  return Date.parse(String(value))
}

type Series = { field: string; sign: 1 | -1; colour: number }

function columnsOf(drawing: Drawing, series: readonly Series[], x: string): Plot.PlotOptions {
  const { cellOf: when } = column(drawing, x)
  const step = (x === 'week' ? 7 : 1) * dayMs
  const marks = series.map(({ field, sign, colour: n }) => {
    const { cellOf, field: declared } = column(drawing, field)
    return Plot.rectY(drawing.rows, {
      x1: (row) => new Date(timeOf(when(row))),
      x2: (row) => new Date(timeOf(when(row)) + step),
      y: (row) => sign * numberOf(cellOf(row)),
      insetLeft: 0.4,
      insetRight: 0.4,
      fill: colour(n),
      title: (row) => `${when(row)}: ${valueText(cellOf(row), declared.kind)} ${declared.title.toLowerCase()}`,
    })
  })
  const kind = column(drawing, series[0]?.field ?? '').field.kind
  return { ...overTime(drawing, when, step), y: amounts(drawing, kind), marks: [...marks, Plot.ruleY([0])] }
}

function lineOf(drawing: Drawing, { x, y, steps }: Chart & { kind: 'line' }): Plot.PlotOptions {
  const { cellOf: when } = column(drawing, x)
  const { cellOf, field } = column(drawing, y)
  const rows = drawing.rows.filter((row) => cellOf(row) !== null)
  const place = {
    x: (row: readonly Value[]) => new Date(timeOf(when(row))),
    y: (row: readonly Value[]) => numberOf(cellOf(row)),
  }
  const marks: Plot.Markish[] = [
    Plot.lineY(rows, { ...place, stroke: colour(1), strokeWidth: 2, curve: steps ? 'step-after' : 'linear' }),
  ]
  if (!steps) marks.push(Plot.dot(rows, { ...place, fill: colour(1), r: 2.5 }))
  const y0 = field.kind === 'share' ? { domain: [0, 1] } : { zero: true }
  return {
    ...overTime(drawing, when, 0),
    y: { ...amounts(drawing, field.kind), ...y0 },
    marks: [...marks, Plot.ruleY([0])],
  }
}

function overTime({ rows, from, to }: Drawing, when: (row: readonly Value[]) => Value, step: number) {
  const times = rows.map((row) => timeOf(when(row)))
  const first = from ?? times.reduce((a, b) => Math.min(a, b), to)
  const last = times.reduce((a, b) => Math.max(a, b + step), to)
  return {
    height,
    marginLeft: 44,
    marginRight: 12,
    marginTop: 24,
    marginBottom: 36,
    x: { type: 'utc', domain: [new Date(first), new Date(last)], label: null, ticks: 5 },
  } as const
}

function amounts({ unit }: Drawing, kind: Field['kind']): Plot.ScaleOptions {
  return {
    label: unit,
    grid: true,
    ticks: 4,
    tickSize: 0,
    tickFormat: (value: number) => tickText(Math.abs(value), kind),
  }
}

function barsOf(drawing: Drawing, { name, length }: Chart & { kind: 'bars' }): Plot.PlotOptions {
  const { cellOf: named } = column(drawing, name)
  const { cellOf, field } = column(drawing, length)
  const labels = drawing.rows.map((row) => isolated(cut(String(named(row) ?? ''), longestLabel)))
  // Names may be equal where they were cut: a bar is known by its place.
  const places = drawing.rows.map((_, at) => at)
  const amount = (at: number) => cellOf(drawing.rows[at] ?? [])
  const longest = labels.reduce((most, label) => Math.max(most, [...label].length), 0)
  return {
    height: 34 + barHeight * places.length,
    marginLeft: 14 + longest * 6.6,
    marginRight: 56,
    marginTop: 24,
    marginBottom: 8,
    x: {
      label: drawing.unit,
      axis: 'top',
      grid: true,
      ticks: 4,
      tickSize: 0,
      tickFormat: (value: number) => tickText(value, field.kind),
      ...(field.kind === 'share' ? { domain: [0, 1] } : {}),
    },
    y: { domain: places, label: null, tickSize: 0, tickFormat: (at: number) => labels[at] ?? '' },
    marks: [
      Plot.barX(places, {
        x: (at: number) => numberOf(amount(at)),
        y: (at: number) => at,
        fill: (at: number) => colour(named(drawing.rows[at] ?? []) === 'others' ? 3 : 1),
        insetTop: 2,
        insetBottom: 2,
      }),
      Plot.text(places, {
        x: (at: number) => numberOf(amount(at)),
        y: (at: number) => at,
        text: (at: number) => barText(amount(at), field.kind),
        textAnchor: 'start',
        dx: 4,
      }),
      Plot.ruleX([0]),
    ],
  }
}

function barText(value: Value, kind: Field['kind']): string {
  return typeof value === 'number' ? tickText(value, kind) : 'none'
}

/** Keeps a name that is written from right to left from turning what stands beside it. */
function isolated(name: string): string {
  return `\u2068${name}\u2069`
}

/** Tenths of a unit can't be seen. */
function compacted(svg: string): string {
  return svg.replaceAll(/(\d+\.\d)\d+(?=[^<>]*>)/g, '$1')
}

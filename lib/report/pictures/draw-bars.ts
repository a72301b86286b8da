import * as Plot from '@observablehq/plot'
import { colour, column, type Drawing, numberOf } from './drawing.ts'
import type { Chart, Field, Value } from './picture.ts'
import { others } from './rank.ts'
import { cut, tickText } from './words.ts'

const barHeight = 24
/** How much of a name fits beside a bar. */
const longestLabel = 22
/** What a character takes, on average and in units of the picture. */
const characterWidth = 6.6

/** Bars below each other, one per name, with their numbers. */
export function barsOf(drawing: Drawing, { name, length }: Chart & { kind: 'bars' }): Plot.PlotOptions {
  const { cellOf: named } = column(drawing, name)
  const { cellOf, field } = column(drawing, length)
  const labels = drawing.rows.map((row) => isolated(cut(String(named(row) ?? ''), longestLabel)))
  // Names may be equal where they were cut: a bar is known by its place.
  const places = drawing.rows.map((_, at) => at)
  const amount = (at: number) => cellOf(drawing.rows[at] ?? [])
  const isDown = (at: number) => numberOf(amount(at)) < 0
  const fill = (at: number) => colour(named(drawing.rows[at] ?? []) === others ? 3 : isDown(at) ? 2 : 1)
  const place = { x: (at: number) => numberOf(amount(at)), y: (at: number) => at }
  const text = (at: number) => barText(amount(at), field.kind)
  const least = places.reduce((most, at) => Math.min(most, numberOf(amount(at))), 0)
  const most = places.reduce((most, at) => Math.max(most, numberOf(amount(at))), 0)
  return {
    height: 26 + barHeight * places.length,
    marginLeft: 14 + labels.reduce((longest, label) => Math.max(longest, [...label].length), 0) * characterWidth,
    marginRight: 56,
    marginTop: 20,
    marginBottom: 6,
    // Numbers at the bars say what a scale would; those below zero need room on their left.
    x: { axis: null, domain: field.kind === 'share' ? [0, 1] : [least * 1.3, Math.max(most, -least / 1000, 1e-9)] },
    y: { domain: places, label: null, tickSize: 0, tickFormat: (at: number) => labels[at] ?? '' },
    marks: [
      Plot.barX(places, { ...place, fill, insetTop: 2.5, insetBottom: 2.5, rx: 1.5 }),
      Plot.text(places, { ...place, text, filter: (at: number) => !isDown(at), textAnchor: 'start', dx: 4 }),
      Plot.text(places, { ...place, text, filter: isDown, textAnchor: 'end', dx: -4 }),
      Plot.ruleX([0]),
      Plot.text([drawing.unit], { frameAnchor: 'top-left', dy: -16, text: String }),
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

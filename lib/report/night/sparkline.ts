import { type Html, html } from '../html.ts'
import { amount } from '../words.ts'

const [width, height, edge] = [150, 30, 3]

/** A value of a run, oldest first; null where the run came to none. `odd` marks a run that did not end well. */
export type Point = { value: number | null; odd: boolean }

/**
 * A small line over the last runs. Its height begins at 0, so that it tells the truth; a dot marks each run that did not end
 * well, and the last one. `what` begins what is read out.
 */
export function sparkline(points: readonly Point[], what: string): Html {
  const values = points.flatMap(({ value }) => value ?? [])
  if (values.length === 0) return html`<span class="soft">none</span>`
  const largest = Math.max(1, ...values)
  // The newest stands on the right, also where it is the only one.
  const x = (at: number) =>
    rounded(width - edge - ((points.length - 1 - at) * (width - 2 * edge)) / Math.max(1, points.length - 1))
  const y = (value: number | null) => rounded(height - edge - ((value ?? 0) / largest) * (height - 2 * edge))
  const line = points.flatMap(({ value }, at) => (value === null ? [] : [`${x(at)},${y(value)}`])).join(' ')
  const dots = points.map(({ value, odd }, at) => {
    if (!odd && at < points.length - 1) return null
    return html`<circle class="${odd ? 'odd' : 'last'}" cx="${x(at)}" cy="${y(value)}" r="${odd ? 2.5 : 2}"/>`
  })
  const odd = points.filter((point) => point.odd).length
  const range = `between ${amount(Math.min(...values))} and ${amount(Math.max(...values))}`
  const label = `${what} in ${amount(points.length)} runs: ${range}, in the last ${amount(values.at(-1) ?? 0)}${odd > 0 ? `; ${amount(odd)} did not end well` : ''}`
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}"><polyline points="${line}"/>${dots}</svg>`
}

/** The style of small lines. */
export const sparkStyle = `
.runs { display: inline-flex; align-items: center; gap: .6rem; font-variant-numeric: tabular-nums; vertical-align: middle; }
.spark { width: 7.5rem; max-width: 100%; height: auto; }
.spark polyline { fill: none; stroke: var(--info); stroke-width: 1.5; stroke-linejoin: round; }
.spark .last { fill: var(--info); } .spark .odd { fill: var(--critical); }
`

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

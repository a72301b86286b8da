import { type Html, html } from '../../report/html.ts'
import { amount } from '../../report/words.ts'
import type { SumPoint } from './facts.ts'

const [width, height, left, bottom, top] = [720, 200, 12, 8, 12]

/**
 * The sum over time as a picture: a line from day to day over an axis that begins at 0, so that its height tells the truth.
 * Its text says the same in words.
 */
export function sumPicture(points: readonly SumPoint[]): Html {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return html`<p>None.</p>`
  const largest = Math.max(...points.map(({ sum }) => sum))
  const xs = points.map((_, i) => left + (i * (width - 2 * left)) / Math.max(1, points.length - 1))
  const ys = points.map(({ sum }) => height - bottom - (sum / Math.max(1, largest)) * (height - bottom - top))
  const line = xs.map((x, i) => `${i === 0 ? 'M' : 'L'}${rounded(x)} ${rounded(ys[i]!)}`).join('')
  const base = height - bottom
  const label = `The sum of all limits: ${amount(first.sum)} on ${first.day}, ${amount(last.sum)} on ${last.day}; the most was ${amount(largest)}.`
  return html`<figure class="sum"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<path class="area" d="${line}L${rounded(xs.at(-1)!)} ${base}L${rounded(xs[0]!)} ${base}Z"/>
<path class="line" d="${line}"/>
<line x1="${left}" x2="${width - left}" y1="${base}" y2="${base}"/>
<circle cx="${rounded(xs.at(-1)!)}" cy="${rounded(ys.at(-1)!)}" r="4"/>
</svg><p class="axis"><span>${first.day}</span><span>${last.day}</span></p>
<figcaption>${label}</figcaption></figure>`
}

/** The style of the picture. */
export const sumStyle = `
figure.sum { margin: 0; }
figure.sum svg { width: 100%; height: auto; background: var(--box); border-radius: .4rem; print-color-adjust: exact; }
figure.sum .area { fill: var(--info); opacity: .15; }
figure.sum .line { fill: none; stroke: var(--info); stroke-width: 2.5; vector-effect: non-scaling-stroke; }
figure.sum line { stroke: var(--line); }
figure.sum circle { fill: var(--info); }
figure.sum .axis { display: flex; justify-content: space-between; margin: .1rem 0 0; color: var(--soft); font-size: .85rem; }
figcaption { color: var(--soft); padding-top: .25rem; }
`

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

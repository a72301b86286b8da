import type { Counts } from '../../sync/checkpoint.ts'
import { type Html, html } from '../html.ts'
import { type PageSection, shown } from '../page.ts'
import { amount } from '../words.ts'
import type { NightFacts, StreamNight } from './facts.ts'
import type { StreamRun } from './history.ts'
import { type Point, sparkline } from './sparkline.ts'

const measures = [
  { title: 'Received', of: ({ received }: Counts) => received },
  { title: 'Changed', of: ({ inserted, updated }: Counts) => inserted + updated },
  { title: 'Deleted', of: ({ deleted }: Counts) => deleted },
] as const

/** What the last runs asked and received of each stream: small lines, and the numbers behind them. */
export function runsSection({ streams }: NightFacts): PageSection {
  const read = streams.filter(({ runs }) => runs.length > 0)
  const body =
    read.length === 0
      ? html`<p>No run is on record.</p>`
      : html`<table><caption>Records per run, the newest on the right, up to 30 of each stream. A red dot: the run did not end well.</caption>
<thead><tr><th scope="col">Stream</th>${measures.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${read.map(linesOf)}</tbody></table>
<details><summary>The numbers behind the lines</summary>${read.map(numbersOf)}</details>`
  return { id: 'runs', title: 'The last 30 runs', body }
}

function linesOf({ stream, runs }: StreamNight): Html {
  return html`<tr><th scope="row">${stream}</th>${measures.map(({ title, of }) => {
    const points = runs.map((run) => pointOf(run, of)).reverse()
    const last = points.at(-1)?.value
    return html`<td data-label="${title}"><span class="runs">${sparkline(points, `${title} of ${stream}`)}${last !== null && last !== undefined && html`<span>${amount(last)}</span>`}</span></td>`
  })}</tr>`
}

function pointOf({ status, counts }: StreamRun, of: (counts: Counts) => number): Point {
  return { value: counts && of(counts), odd: status !== 'complete' }
}

function numbersOf({ stream, runs }: StreamNight): Html {
  return html`<table><caption>${stream}, newest first</caption>
<thead><tr><th scope="col">Run</th><th scope="col">Status</th>${measures.map(({ title }) => html`<th scope="col" class="number">${title}</th>`)}</tr></thead>
<tbody>${runs.map(
    ({
      scheduledAt,
      status,
      counts,
    }) => html`<tr><th scope="row">${shown(new Date(scheduledAt).toISOString())}</th><td data-label="Status">${status}</td>
${measures.map(({ title, of }) => html`<td class="number" data-label="${title}">${counts && amount(of(counts))}</td>`)}</tr>`,
  )}</tbody></table>`
}

import { shownValue } from './diff.ts'
import { type Step, userText, type WatchedChange } from './history.ts'
import { type Html, html } from './html.ts'

/** A time for people; what is no time is shown as it is. */
export const shown = (time: string): string => {
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

/** Every revision, newest first, with who changed what. */
export const reportTimeline = (
  steps: readonly Step[],
): Html => html`<section aria-labelledby="timeline"><h2 id="timeline">All revisions</h2>
${steps.length === 0 ? html`<p>None.</p>` : html`<ol class="timeline">${steps.toReversed().map(revisionItem)}</ol>`}</section>`

const revisionItem = ({ entry, previous, changes }: Step): Html => {
  const { revision, sequence, updatedAt, recordedAt, hash } = entry
  const again = previous?.revision === revision
  return html`<li id="entry-${sequence}"><h3>Revision ${revision}${again && ', seen again with another content'}</h3>
<p>${typeof updatedAt === 'string' ? html`<time datetime="${updatedAt}">${shown(updatedAt)}</time> by ` : 'By '}${userText(entry)}</p>
<p class="soft">Entry ${sequence}, recorded ${shown(recordedAt)}, hash <code>${hash.slice(0, 16)}</code></p>
${changes.length === 0 ? html`<p>No setting differs${previous && ` from revision ${previous.revision}`}.</p>` : changeTable(changes, previous)}</li>`
}

const changeTable = (changes: WatchedChange[], previous: Step['previous']): Html => html`<table>
<caption>${previous ? `Against revision ${previous.revision}` : 'All that was set; there is nothing before it to compare with'}</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">Change</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(changeRow)}</tbody></table>`

const changeRow = ({ path, kind, before, after, matches }: WatchedChange): Html =>
  html`<tr><th scope="row">${path}${matches.map(
    ({ severity, why }) => html`<span class="why ${severity}">${severity}: ${why}</span>`,
  )}</th><td>${kind}</td><td class="before" data-label="Before">${shownValue(before)}</td><td class="after" data-label="After">${shownValue(after)}</td></tr>`

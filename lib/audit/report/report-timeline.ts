import { type Html, html } from '../../report/html.ts'
import { shown } from '../../report/page.ts'
import { onlySecretDiffers, shownValue } from '../changes/diff.ts'
import { type RevisionDiff, userText, type WatchedChange } from '../changes/history.ts'

function dayShown(time: string): string {
  return Number.isNaN(Date.parse(time)) ? time : shown(time).slice(0, 10)
}

/** Longer names fill a cell, and may go on in the next line before a capital. */
const longName = 24

/** A path that may go on in the next line after a dot or before a bracket, rather than anywhere in a name. */
export function breakable(path: string): Html {
  return html`${path
    .split(/(?<=\.)|(?=\[)/)
    .flatMap((name) => (name.length > longName ? name.split(/(?<=[a-z])(?=[A-Z])/) : name))
    .map((segment, at) => html`${at > 0 && html`<wbr>`}${segment}`)}`
}

/** The time of a revision, as far as the platform says so; to the minute or the day. */
export function whenOf({ updatedAt }: RevisionDiff['entry'], to: 'minute' | 'day'): Html | null {
  return typeof updatedAt === 'string'
    ? html`<time datetime="${updatedAt}">${to === 'day' ? dayShown(updatedAt) : shown(updatedAt)}</time>`
    : null
}

/** The section on every revision, newest first, with who changed what. */
export function reportTimeline(diffs: readonly RevisionDiff[]): Html {
  return diffs.length === 0
    ? html`<p>None.</p>`
    : html`<ol class="timeline">${diffs.toReversed().map(revisionItem)}</ol>`
}

function revisionItem({ entry, previous, changes }: RevisionDiff): Html {
  const { revision, sequence, recordedAt, hash } = entry
  const when = whenOf(entry, 'minute')
  const again = previous?.revision === revision
  return html`<li id="entry-${sequence}"><h3>Revision ${revision}${again && ', seen again with another content'}</h3>
<p>${when ? html`${when} by ` : 'By '}${userText(entry)}</p>
<p class="soft">Entry ${sequence}, recorded ${shown(recordedAt)}, hash <code>${hash.slice(0, 16)}</code></p>
${changes.length === 0 ? html`<p>No setting differs${previous && ` from revision ${previous.revision}`}.</p>` : changeTable(changes, previous)}</li>`
}

function changeTable(changes: WatchedChange[], previous: RevisionDiff['previous']): Html {
  return html`<table>
<caption>${previous ? `Against revision ${previous.revision}` : 'All that was set; there is nothing before it to compare with'}</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">Change</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(changeRow)}</tbody></table>`
}

function changeRow(change: WatchedChange): Html {
  const { path, kind, before, after, matches } = change
  const bySecret = onlySecretDiffers(change)
  return html`<tr><th scope="row">${breakable(path)}${matches.map(
    ({ severity, why }) => html`<span class="why ${severity}">${severity}: ${why}</span>`,
  )}</th><td>${bySecret ? 'secret changed' : kind}</td><td class="before" data-label="Before">${!bySecret && shownValue(before)}</td><td class="after" data-label="After">${!bySecret && shownValue(after)}</td></tr>`
}

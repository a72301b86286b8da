import { type Html, html } from '../../report/html.ts'
import { shown } from '../../report/page.ts'
import { counted } from '../../report/words.ts'
import { onlySecretDiffers } from '../changes/diff.ts'
import { type RevisionDiff, userText } from '../changes/history.ts'
import type { Made, PersonChanges } from './report-changes.ts'
import { breakable, isFolded, kindText, treeHtml } from './report-values.ts'

/** Every revision of the period in one line, in their order: what vouches for it, and how much it changed. */
export function reportRevisions(diffs: readonly RevisionDiff[]): Html {
  if (diffs.length === 0) return html`<p>None.</p>`
  return html`<table class="register"><caption>In the order of their numbers. The hash is that of the entry; AUDIT-FORMAT.md in the evidence pack says how to make it.</caption>
<thead><tr><th scope="col">Rev.</th><th scope="col">Made</th><th scope="col">By</th><th scope="col">Changed</th><th scope="col">Recorded</th><th scope="col">Entry</th><th scope="col">Hash</th></tr></thead>
<tbody>${diffs.map(revisionRow)}</tbody></table>`
}

function revisionRow({ entry, previous, changes }: RevisionDiff): Html {
  const { revision, sequence, recordedAt, updatedAt, hash } = entry
  const again = previous?.revision === revision
  return html`<tr id="entry-${sequence}"><th scope="row">${revision}</th>
${typeof updatedAt === 'string' ? madeCell(updatedAt) : html`<td data-label="Made">?</td>`}<td data-label="By">${userText(entry)}</td>
<td data-label="Changed">${again && 'other content than before, '}${changedText(changes.length, previous)}</td>
<td class="whole" data-label="Recorded">${shown(recordedAt)}</td><td data-label="Entry">${sequence}</td><td class="whole" data-label="Hash"><code>${hash.slice(0, 16)}</code></td></tr>`
}

/** What is no time may be a text of any length. */
function madeCell(updatedAt: string): Html {
  const time = shown(updatedAt)
  return html`<td${time !== updatedAt && html` class="whole"`} data-label="Made">${time}</td>`
}

function changedText(count: number, previous: RevisionDiff['previous']): string {
  if (previous === null) return `record begins, ${counted(count, 'field')}`
  return count === 0 ? `nothing since ${previous.revision}` : counted(count, 'field')
}

/** The decisions that are folded in the list of changes, each field of them with both of its sides. */
export function reportFull(people: readonly PersonChanges[]): Html {
  const long = people
    .flatMap(({ made }) => made)
    .filter(({ decision }) => isFolded(decision))
    .toSorted((a, b) => a.at - b.at)
  if (long.length === 0) return html`<p>None: all of them are whole above.</p>`
  const rows = html`<table class="full"><caption>In the order of time</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
${long.map(fullRows)}</table>`
  return html`<details class="annex"><summary>${counted(long.length, 'decision')}, with every field</summary>${rows}</details>`
}

function fullRows({ decision, diff, id }: Made): Html {
  const { entry } = diff
  const title = html`Revision ${entry.revision}, ${breakable(decision.path)}: ${kindText(decision)}, by ${userText(entry)}`
  return html`<tbody><tr><th class="of" colspan="3" scope="rowgroup" id="${id}">${title}</th></tr>${decision.changes.map(
    (change) =>
      html`<tr><th scope="row">${breakable(change.path)}</th>${
        onlySecretDiffers(change)
          ? html`<td colspan="2">secret changed</td>`
          : html`<td class="before" data-label="Before">${treeHtml(change.before)}</td><td class="after" data-label="After">${treeHtml(change.after)}</td>`
      }</tr>`,
  )}</tbody>`
}

import { utcDate } from '../../core/clock.ts'
import { type Html, html } from '../../report/html.ts'
import { shown } from '../../report/page.ts'
import { countsText, faultsText, type Verification, verdictOf } from '../verify/verify.ts'
import type { Period } from './period.ts'

/** What is known of the evidence beside the verification. */
export type EvidenceContext = {
  verification: Verification
  /** Ids of keys that were known beforehand, and against which signatures were checked. */
  trustedKeyIds: readonly string[]
  period: Period
  /** ISO 8601, UTC. */
  writtenAt: string
  recordBegan: string | null
}

/** Whether the evidence holds, in one sentence at the top of the page; what is not proved must not look as if it were. */
export function verdictHtml({ verification }: EvidenceContext): Html {
  const { faults, digests, unsignedEntries } = verification
  if (faults.length > 0) {
    return html`<p class="verdict bad">Not verified: the evidence has ${faultsText(faults)}. They are listed under <a href="#signatures">Signatures</a>.</p>`
  }
  if (!digests.newest) return html`<p class="verdict unproved">Not verified: ${lower(verdictOf(verification))}</p>`
  if (unsignedEntries === 0) return html`<p class="verdict">Verified. ${verdictOf(verification)}</p>`
  return html`<p class="verdict unproved">Verified in part. ${verdictOf(verification)} ${unsignedText(unsignedEntries)}</p>`
}

function lower(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

function unsignedText(count: number): string {
  return `No signature vouches for the last ${count} entries.`
}

/** The section on signatures: what was checked, who signed, and how far that reaches into the period. */
export function reportSignatures(context: EvidenceContext): Html {
  const { verification, trustedKeyIds } = context
  const { faults, notes, digests, unsignedEntries } = verification
  const { newest, keyIds } = digests
  return html`<p>Checked from the stored bytes: ${countsText(verification)}.
${newest ? html`The newest digest is number ${newest.sequence}, of ${shown(newest.writtenAt)}, and has the hash <code>${newest.hash}</code>.` : 'No digest with a right signature was found.'}
${unsignedEntries > 0 && unsignedText(unsignedEntries)}</p>
${faults.length > 0 && faultTable(verification)}
${notes.map(({ place, message }) => html`<p>${place} ${message}.</p>`)}
${
  keyIds.length > 0 &&
  html`<p>${trustedKeyIds.length > 0 ? 'Signatures were checked against keys that were known beforehand:' : 'Signed by this key; compare its id with what you were told by another way:'}</p>
<ul class="keys">${keyIds.map((id) => html`<li><code>${id}</code></li>`)}</ul>`
}
${reachOf(context).map((text) => html`<p>${text}</p>`)}`
}

/** Where the period is longer than what the evidence can show. */
function reachOf({ verification, period: { from, until }, writtenAt, recordBegan }: EvidenceContext): string[] {
  const { newest } = verification.digests
  const written = Date.parse(writtenAt)
  const end = Math.min(until ?? written, written)
  return [
    ...(until !== null && until > written
      ? [`The period is not over: it ends after ${utcDate(until - 1)}, and this page was written before that.`]
      : []),
    ...(newest && Date.parse(newest.writtenAt) < end
      ? [
          `The newest digest is older than the end of the period: what happened after ${shown(newest.writtenAt)} is not signed.`,
        ]
      : []),
    ...(recordBegan !== null && (from ?? 0) < Date.parse(recordBegan)
      ? [
          `The record begins on ${utcDate(Date.parse(recordBegan))}. What was before that day is told as the platform's own list showed it then.`,
        ]
      : []),
  ]
}

function faultTable({ faults }: Verification): Html {
  return html`<table><caption>Faults</caption>
<thead><tr><th scope="col">Place</th><th scope="col">Kind</th><th scope="col">What is wrong</th></tr></thead>
<tbody>${faults.map(({ place, kind, message }) => html`<tr><th scope="row">${place}</th><td>${kind.replaceAll('_', ' ')}</td><td>${message}</td></tr>`)}</tbody></table>`
}

/** How somebody else repeats the check. */
export function reportChecking({ verification: { digests } }: EvidenceContext): Html {
  return html`<p>Ask for an evidence pack (<code>platform-sync audit export --out pack</code>). Its README.txt says what each file is, and how to
check them step by step. In short, with Node.js 18 or later and nothing else:</p>
<pre><code>node verify.mjs ${digests.keyIds.map((id) => `--key-id ${id} `)}--expect ${digests.newest?.hash ?? '<hash>'}</code></pre>
<p>Keep the hash of the newest digest where nobody of the organization can write, and give it as <code>--expect</code> the next time: evidence that
was set back as a whole to an earlier day has no fault in itself, and only what was kept elsewhere shows it.</p>
<p>AUDIT-FORMAT.md in the pack says what is checked, so that a verifier of your own can do the same.</p>`
}

import { streamNamed } from '../../streams/index.ts'
import { type Html, html } from '../html.ts'
import type { PageSection } from '../page.ts'
import { amount, counted } from '../words.ts'
import type { Drift, Unknown } from './drift.ts'
import type { NightFacts } from './facts.ts'
import type { InvalidField, Quarantine } from './set-aside.ts'

/** What was set aside: whole records in quarantine, and single values. Reasons and places, and no value. */
export function asideSection({ quarantine, invalid }: NightFacts, place: string): PageSection {
  const none = quarantine.length === 0 && invalid.length === 0
  const body = none
    ? html`<p>Nothing: each record of the last scans has its row, and each value its column.</p>`
    : html`${quarantine.map((each) => quarantineOf(each, place))}${invalid.length > 0 && invalidTable(invalid, place)}`
  return { id: 'aside', title: 'Set aside', body }
}

function quarantineOf({ stream, records, reasons }: Quarantine, place: string): Html {
  return html`<h3>${counted(records, 'record')} of ${stream} in quarantine</h3>
<p>No table can take them. They are kept as they came, and cost no other record.</p>
<ul class="plain">${reasons.map((each) => html`<li>${each.reason} <span class="soft">(${counted(each.records, 'record')})</span></li>`)}</ul>
<p>See them: <code>platform-sync query${place} "select key, reasons, raw from quarantine where stream = '${stream}'"</code></p>`
}

function invalidTable(fields: readonly InvalidField[], place: string): Html {
  const [first] = fields
  const [main] = streamNamed(first?.stream ?? '').tables
  return html`<h3>Values of an unforeseen form</h3>
<p>The rows stay; the column is null, and <code>_invalid</code> tells what came.</p>
<table><caption>In the last scan of each stream, unchanged records included</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Stream</th><th scope="col" class="number">Records</th><th scope="col">A first example</th></tr></thead>
<tbody>${fields.map(
    ({
      stream,
      field,
      records,
      example,
    }) => html`<tr><th scope="row">${field}</th><td data-label="Stream">${stream}</td>
<td class="number" data-label="Records">${amount(records)}</td><td data-label="A first example">${example ?? ''}</td></tr>`,
  )}</tbody></table>
<p>See them: <code>platform-sync query${place} "select ${main.key.join(', ')}, _invalid from ${main.name}_current where _invalid is not null"</code></p>`
}

/** What came in the last 30 runs that no schema knows, in words. Nothing of it is lost. */
export function driftSection({ drift }: NightFacts): PageSection {
  const body =
    drift.length === 0
      ? html`<p>Nothing: fields and values of the last 30 runs are those that are known.</p>`
      : html`<p>The platform has learned something. All of it is kept: values in their column, fields in <code>_extra</code>.</p>
${drift.map(driftOf)}`
  return { id: 'unknown', title: 'What no schema knows', body }
}

function driftOf({ stream, records, found, left }: Drift): Html {
  return html`<h3>${stream}: ${counted(records, 'new or changed record')}</h3>
<ul class="plain">${found.map((each) => html`<li>${inWords(each)} <span class="soft">(${counted(each.rows, 'row')}, since ${each.since.slice(0, 10)})</span></li>`)}
${left > 0 && html`<li>${amount(left)} more.</li>`}${found.length === 0 && html`<li>The newest files do not show where.</li>`}</ul>`
}

function inWords({ field, value }: Unknown): Html {
  return value === null
    ? html`<code>${field}</code> is a field never seen before`
    : html`<code>${field}</code> has a value never seen before: <code>${value}</code>`
}

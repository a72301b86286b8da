import { type Html, html, rawHtml } from '../html.ts'
import type { PageSection } from '../page.ts'
import { firstPeriod, periods } from './periods.ts'
import type { DrawnPicture, Field, Group, Value, View } from './picture.ts'
import { valueText } from './words.ts'

const groups: readonly { group: Group; title: string }[] = [
  { group: 'use', title: 'Sessions and credits' },
  { group: 'readiness', title: 'Readiness of repositories' },
  { group: 'people', title: 'People and their agents' },
  { group: 'limits', title: 'Credit limits' },
]

/** What happens on the platform, as a section of a page. Its style is `pictureStyle`. */
export function pictureSections(pictures: readonly DrawnPicture[]): PageSection[] {
  const shown = groups.filter(({ group }) => pictures.some((picture) => picture.group === group))
  const body = html`<div class="pictures">
${chooser()}
<ul class="picture-groups">${shown.map(({ group, title }) => html`<li><a href="#pictures-${group}">${title}</a></li>`)}</ul>
${shown.map(({ group, title }) => groupOf(title, group, pictures))}
</div>`
  return [{ id: 'pictures', title: 'What happens on the platform?', body }]
}

/** A choice that needs no script: the style shows what is checked. */
function chooser(): Html {
  return html`<fieldset class="period"><legend>Period</legend>
${periods.map(
  ({ id, label }) =>
    html`<span><input type="radio" name="period" id="period-${id}" value="${id}"${id === firstPeriod && rawHtml(' checked')}><label for="period-${id}">${label}</label></span>
`,
)}</fieldset>
<p class="soft">A period is the whole days before today, and today so far.</p>`
}

function groupOf(title: string, group: Group, pictures: readonly DrawnPicture[]): Html {
  return html`<h3 id="pictures-${group}">${title}</h3>
<div class="picture-grid">
${pictures.filter((picture) => picture.group === group).map(pictureOf)}</div>
`
}

function pictureOf({ id, note, periods: kind, views }: DrawnPicture): Html {
  return html`<article class="picture" id="${id}">
${views.map(
  (view) => html`<div class="view${kind === 'each' && ` in-${view.period.id}`}">${viewOf(view)}</div>
`,
)}<p class="soft">${note}</p>
</article>
`
}

function viewOf(view: View): Html {
  return html`<h4>${view.title}</h4>
<p>${view.summary}</p>
${view.svg !== null && rawHtml(view.svg)}
${view.rows.length > 0 && html`<details><summary>The numbers</summary>${tableOf(view)}</details>`}
<details><summary>The SQL</summary><pre><code>${view.sql}</code></pre></details>`
}

function tableOf({ title, fields, rows }: View): Html {
  return html`<table><caption>${title}</caption>
<thead><tr>${fields.map((field) => html`<th scope="col"${isNumber(field) && rawHtml(' class="number"')}>${field.title}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (row) => html`<tr>${fields.map((field, at) => cellOf(field, row[at] ?? null, at))}</tr>
`,
)}</tbody></table>`
}

function cellOf(field: Field, value: Value, at: number): Html {
  const text = valueText(value, field.kind)
  if (at === 0) return html`<th scope="row"><bdi>${text}</bdi></th>`
  return isNumber(field) ? html`<td class="number">${text}</td>` : html`<td><bdi>${text}</bdi></td>`
}

function isNumber({ kind }: Field): boolean {
  return kind !== 'day' && kind !== 'name'
}

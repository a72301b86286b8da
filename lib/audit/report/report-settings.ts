import { isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { type Html, html } from '../../report/html.ts'
import { shown } from '../../report/page.ts'
import { counted } from '../../report/words.ts'
import { shownValue } from '../changes/diff.ts'
import { userText } from '../changes/history.ts'
import { type AuditEntry, masked } from '../trail/entry.ts'
import { breakable, folded, treeHtml } from './report-values.ts'

/** What a cell shows as it is; longer values are folded. */
const oneLine = 120

/** The settings as a revision left them: one row for each, and what is nested is folded. */
export function reportSettings(last: AuditEntry | null): Html {
  if (last === null)
    return html`<p>No revision of that time is recorded, so that nothing is known of the settings then.</p>`
  const { revision, updatedAt, sequence, settings } = last
  const when = typeof updatedAt === 'string' ? `, of ${shown(updatedAt)}` : ''
  const origin = html`<p>As revision <a href="#entry-${sequence}">${revision}</a>${when}, left them; by <bdi>${userText(last)}</bdi>. A setting that is
not listed was not set.</p>`
  const value = settings === undefined ? null : masked(settings)
  if (!isPlainObject(value))
    return html`${origin}<p>They are ${settings === undefined ? 'missing' : shownValue(value)}.</p>`
  const names = Object.keys(value).toSorted()
  if (names.length === 0) return html`${origin}<p>None was set.</p>`
  return html`${origin}<table class="settings"><caption>${counted(names.length, 'setting')}, by name</caption>
<thead><tr><th scope="col">Setting</th><th scope="col">Value</th></tr></thead>
<tbody>${names.map((name) => html`<tr><th scope="row">${breakable(name)}</th><td>${settingHtml(value[name])}</td></tr>`)}</tbody></table>`
}

function settingHtml(value: Json | undefined): Html | string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'an empty list'
    const words = value.some((item) => typeof item === 'object') ? null : value.map(shownValue).join(', ')
    return words !== null && words.length <= oneLine ? words : folded(counted(value.length, 'item'), treeHtml(value))
  }
  if (isPlainObject(value)) {
    const count = Object.keys(value).length
    return count === 0 ? 'empty' : folded(counted(count, 'field'), treeHtml(value))
  }
  const text = shownValue(value)
  return text.length > oneLine ? folded(`${text.slice(0, 60)}…`, html`<p>${text}</p>`) : text
}

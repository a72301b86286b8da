import { isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { type Html, html } from '../../report/html.ts'
import { counted } from '../../report/words.ts'
import { onlySecretDiffers, shownValue } from '../changes/diff.ts'
import type { WatchedChange } from '../changes/history.ts'
import type { Decision } from './decisions.ts'

/** Longer names fill a cell, and may go on in the next line before a capital. */
const longName = 24
/** What a cell shows as it is; longer values are folded. */
const shortText = 80
const fewItems = 3

/** A path that may go on in the next line after a dot or before a bracket, rather than anywhere in a name. */
export function breakable(path: string): Html {
  return html`${path
    .split(/(?<=\.)|(?=\[)/)
    .flatMap((name) => (name.length > longName ? name.split(/(?<=[a-z])(?=[A-Z])/) : name))
    .map((segment, at) => html`${at > 0 && html`<wbr>`}${segment}`)}`
}

/** Something that is folded on a screen under a few words. */
export function folded(summary: Html | string, body: Html): Html {
  return html`<details><summary>${summary}</summary>${body}</details>`
}

/** A value for a cell: as it is when it is short, else folded under its beginning. */
export function valueHtml(value: Json | undefined): Html | string {
  const text = shownValue(value)
  if (text.length <= shortText) return text
  const body = isPlainObject(value) || Array.isArray(value) ? treeHtml(value) : html`<p>${text}</p>`
  return folded(isPlainObject(value) ? counted(Object.keys(value).length, 'field') : `${text.slice(0, 40)}…`, body)
}

/** A value that is nested, level by level. */
export function treeHtml(value: Json | undefined): Html {
  if (Array.isArray(value)) return html`<ol>${value.map((item) => html`<li>${treeHtml(item)}</li>`)}</ol>`
  if (!isPlainObject(value)) return html`${shownValue(value)}`
  return html`<ul>${Object.keys(value)
    .toSorted()
    .map((name) => html`<li><b>${breakable(name)}</b>: ${treeHtml(value[name])}</li>`)}</ul>`
}

/** The way in which something changed, in a word or two. */
export function kindText({ form, kind, changes }: Decision): string {
  const [first] = changes
  if (form === 'settings') return `${changes.length} ${kind}`
  if (form === 'value') return first && onlySecretDiffers(first) ? 'secret changed' : kind
  const [gone, came] = [changes.filter(isGone), changes.filter((change) => !isGone(change))]
  const signs = [...(came.length > 0 ? [`+${came.length}`] : []), ...(gone.length > 0 ? [`−${gone.length}`] : [])]
  return signs.join(' ')
}

function isGone({ after }: WatchedChange): boolean {
  return after === undefined
}

/** Both sides of a decision, for the cells "before" and "after". */
export function sidesHtml({ form, changes }: Decision): { before: Html | string; after: Html | string } {
  const [first] = changes
  if (form === 'value' && first) return sidesOf(first)
  if (form === 'items') {
    return {
      before: itemsHtml(changes.filter(isGone).map(({ before }) => before)),
      after: itemsHtml(changes.filter((change) => !isGone(change)).map(({ after }) => after)),
    }
  }
  const names = (side: 'before' | 'after') => {
    const some = changes.filter((change) => change[side] !== undefined)
    return some.length === 0 ? '' : folded(counted(some.length, 'setting'), settingList(some, side))
  }
  return { before: names('before'), after: names('after') }
}

/** Both sides of one change. Of a secret that another replaced there is nothing to show. */
export function sidesOf(change: WatchedChange): { before: Html | string; after: Html | string } {
  if (onlySecretDiffers(change)) return { before: '', after: '' }
  return { before: valueHtml(change.before), after: valueHtml(change.after) }
}

function itemsHtml(items: readonly (Json | undefined)[]): Html | string {
  if (items.length === 0) return ''
  const [only] = items
  if (items.length === 1 && !isPlainObject(only) && !Array.isArray(only)) return valueHtml(only)
  const list = html`<ul>${items.map((item) => html`<li>${treeHtml(item)}</li>`)}</ul>`
  const isShort = items.length <= fewItems && items.every((item) => shownValue(item).length <= shortText)
  return isShort ? list : folded(counted(items.length, 'item'), list)
}

function settingList(changes: readonly WatchedChange[], side: 'before' | 'after'): Html {
  return html`<ul>${changes.map((change) => html`<li><b>${breakable(change.path)}</b>: ${onlySecretDiffers(change) ? 'secret changed' : treeHtml(change[side])}</li>`)}</ul>`
}

/** Tells whether a decision shows less than all on paper, where nothing can be unfolded. */
export function isFolded({ form, changes }: Decision): boolean {
  if (form === 'settings') return true
  const isLong = ({ before, after }: WatchedChange) =>
    shownValue(before).length > shortText || shownValue(after).length > shortText
  return changes.some(isLong) || (form === 'items' && bySide(changes).some((side) => side.length > fewItems))
}

function bySide(changes: readonly WatchedChange[]): WatchedChange[][] {
  return [changes.filter(isGone), changes.filter((change) => !isGone(change))]
}

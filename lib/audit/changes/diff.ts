import { canonicalJson, isPlainObject } from '../../core/canonical-json.ts'
import { isRawNumber, type Json } from '../../core/json.ts'
import { cutBelow } from '../trail/depth.ts'
import { masked } from '../trail/entry.ts'

/** The ways in which a setting differs from one revision to the next. */
type ChangeKind = 'added' | 'removed' | 'changed'

/** One setting that differs. Secrets are marked in `before` and `after`, never shown. */
export type SettingChange = {
  /** The setting, as `sandbox.network.allowedDomains` or `customModels[id=m1].baseUrl`; `(all)` where settings are no object. */
  path: string
  kind: ChangeKind
  /** Undefined when it was not there before, or is not there any more. */
  before: Json | undefined
  after: Json | undefined
  /** True when a secret differs. */
  secret: boolean
  /** The number of items that the list has now, for an item of a list. */
  itemsAfter?: number
}

/** `comparableSecrets`: the fingerprints of both sides were made under one key. */
type DiffOptions = { comparableSecrets: boolean }

/**
 * Compares two settings field by field: what differs, sorted by path. Lists of plain values are compared as sets, lists of
 * objects by their ids where all have one, otherwise as sets, too. Takes settings of any form and depth.
 */
export function diffSettings(before: Json | undefined, after: Json | undefined, options: DiffOptions): SettingChange[] {
  const prepare = (value: Json | undefined) =>
    value === undefined ? undefined : options.comparableSecrets ? cutBelow(value) : masked(value)
  const changes: SettingChange[] = []
  compare('', [prepare(before), prepare(after)], changes)
  return changes
    .map((change) => ({ ...change, ...concealed(change) }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

type Pair = [before: Json | undefined, after: Json | undefined]

function compare(path: string, [was, is]: Pair, changes: SettingChange[]): void {
  // Null in the place of what can hold something says that nothing is in it: what was there went, field by field.
  const [before, after] = [isFilled(is) ? (was ?? undefined) : was, isFilled(was) ? (is ?? undefined) : is]
  if (before !== undefined && after !== undefined && equal(before, after)) return
  const [fields, items] = [sidesOf([before, after], fieldsOf), sidesOf([before, after], itemsOf)]
  // An object or a list that came or went is shown by what was in it.
  if (fields) compareFields(path, fields, changes)
  else if (items && (isFilled(before) || isFilled(after))) compareLists(path, items, changes)
  else if (before !== undefined && after !== undefined && (isFilled(before) || isFilled(after))) {
    // What became something else lost what was in it: a shield that is off must not hide behind an odd form.
    compare(path, [before, undefined], changes)
    compare(path, [undefined, after], changes)
  } else if (before !== undefined || after !== undefined) changes.push(valueChange(path, [before, after]))
}

/** Both sides as one reading takes them; null when it takes not both. */
function sidesOf<T>([before, after]: Pair, read: (value: Json | undefined) => T | null): [T, T] | null {
  const [left, right] = [read(before), read(after)]
  return left === null || right === null ? null : [left, right]
}

function isFilled(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : isPlainObject(value) && Object.keys(value).length > 0
}

/** The fields of an object; of nothing, none. Null when it is something else. */
function fieldsOf(value: Json | undefined): { [key: string]: Json } | null {
  return value === undefined ? {} : isPlainObject(value) ? value : null
}

/** The items of a list; of nothing, none. Null when it is something else. */
function itemsOf(value: Json | undefined): Json[] | null {
  return value === undefined ? [] : Array.isArray(value) ? value : null
}

function compareFields(
  path: string,
  [before, after]: [{ [key: string]: Json }, { [key: string]: Json }],
  changes: SettingChange[],
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [ownValue(before, key), ownValue(after, key)]
    const below = joinPath(path, key)
    // Nothing on one side and an empty object on the other have no fields that could show it.
    if (isEmptyObject(was) !== isEmptyObject(is) && (was === undefined || is === undefined)) {
      changes.push(valueChange(below, [was, is]))
    } else compare(below, [was, is], changes)
  }
}

function ownValue(object: { [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function isEmptyObject(value: Json | undefined) {
  return isPlainObject(value) && Object.keys(value).length === 0
}

function compareLists(path: string, [before, after]: [Json[], Json[]], changes: SettingChange[]): void {
  const [left, right] = [byId(before), byId(after)]
  const itemsAfter = after.length
  if (left && right && left.size + right.size > 0) {
    for (const id of new Set([...left.keys(), ...right.keys()])) {
      const [was, is] = [left.get(id), right.get(id)]
      const at = `${path}[id=${id}]`
      if (was !== undefined && is !== undefined) compare(at, [was, is], changes)
      else changes.push({ ...valueChange(at, [was, is]), itemsAfter })
    }
    return
  }
  const [was, is] = [asSet(before), asSet(after)]
  for (const [text, item] of was)
    if (!is.has(text)) changes.push({ ...valueChange(path, [item, undefined]), itemsAfter })
  for (const [text, item] of is)
    if (!was.has(text)) changes.push({ ...valueChange(path, [undefined, item]), itemsAfter })
}

function asSet(list: Json[]) {
  return new Map(list.map((item) => [canonicalJson(item), item]))
}

/** A list's items by their ids; null unless each is an object with an id of its own. */
function byId(list: Json[]): Map<string, Json> | null {
  const items = new Map<string, Json>()
  for (const item of list) {
    const id = isPlainObject(item) && Object.hasOwn(item, 'id') ? item.id : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return null
    items.set(String(id), item)
  }
  return items.size === list.length ? items : null
}

/** The path of settings that are no object. No name can look like it: joinPath would quote it. */
const whole = '(all)'

function valueChange(path: string, [before, after]: Pair): SettingChange {
  return {
    path: path || whole,
    kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    before,
    after,
    secret: false,
  }
}

/** Tells that nothing but a secret differs: both sides then read the same, and that it changed is all there is to say. */
export function onlySecretDiffers({ before, after, secret }: SettingChange): boolean {
  return secret && before !== undefined && after !== undefined && equal(before, after)
}

/** A change as people may see it. */
function concealed({ before, after }: SettingChange): Pick<SettingChange, 'before' | 'after' | 'secret'> {
  const hide = (value: Json | undefined) => (value === undefined ? undefined : masked(value))
  const shown = { before: hide(before), after: hide(after) }
  return { ...shown, secret: differs(shown.before, before) || differs(shown.after, after) }
}

function equal(a: Json, b: Json): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b)
}

function differs(a: Json | undefined, b: Json | undefined): boolean {
  return a !== undefined && b !== undefined && !equal(a, b)
}

/** Joins a name to a path. Names that are no words are quoted, so that a path reads in one way only. */
function joinPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? (path === '' ? key : `${path}.${key}`) : `${path}[${JSON.stringify(key)}]`
}

/** A value as people read it: text as it is, all else as JSON. */
export function shownValue(value: Json | undefined): string {
  return value === undefined
    ? ''
    : typeof value === 'string'
      ? value
      : isRawNumber(value)
        ? value.rawJSON
        : canonicalJson(value)
}

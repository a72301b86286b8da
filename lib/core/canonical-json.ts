import { isRawNumber, type Json } from './json.ts'

/**
 * Canonical JSON (RFC 8785): keys in UTF-16 code unit order, numbers and strings as ECMAScript writes them, no white
 * space. Equal values give equal text, so a hash of the text identifies the value. A `RawNumber` is written with its
 * own digits, which RFC 8785 leaves undefined.
 * @throws TypeError for what JSON can't say (undefined, a Date, a Map, NaN …), instead of a silent `{}` or null, and for
 * what is nested so deep that the call stack would not hold it.
 */
export function canonicalJson(value: Json): string {
  return textOf(value, 0)
}

// What is received is looked at before (core/nesting.ts); this bounds what is read from storage.
const levelsHeld = 1_000

function textOf(value: Json, level: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (value === null || typeof value === 'boolean') return `${value}`
  if (Array.isArray(value)) return canonicalArray(value, level + 1)
  if (isRawNumber(value)) return value.rawJSON
  if (isPlainObject(value)) return canonicalObject(value, level + 1)
  throw new TypeError(`canonical JSON can't hold ${Object.prototype.toString.call(value)}`)
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`canonical JSON can't hold the number ${value}`)
  return value === 0 ? '0' : `${value}`
}

// The two loops run for every record of every scan: no callback and no intermediate array.
function canonicalArray(values: Json[], level: number): string {
  if (level > levelsHeld) throw tooDeep()
  let text = ''
  for (let i = 0; i < values.length; i++) text += `${i === 0 ? '' : ','}${textOf(values[i] as Json, level)}`
  return `[${text}]`
}

function canonicalObject(object: { [key: string]: Json }, level: number): string {
  if (level > levelsHeld) throw tooDeep()
  const keys = inOrder(Object.keys(object))
  if (keys.length === 0) return '{}'
  let text = ''
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const { first, next } = writtenKey(key)
    text += (i === 0 ? first : next) + textOf(object[key] as Json, level)
  }
  return `${text}}`
}

function tooDeep() {
  return new TypeError(`canonical JSON can't hold what is nested deeper than ${levelsHeld} levels`)
}

// What JSON must escape, and halves of surrogate pairs.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const special = /["\\\u0000-\u001f\ud800-\udfff]/

/** JSON.stringify for text, but quicker where there is nothing to escape, as in nearly all short texts. */
function quoted(text: string): string {
  return text.length < 200 && !special.test(text) ? `"${text}"` : JSON.stringify(text)
}

const fewKeys = 24

/** Sorts by UTF-16 code units, in place. Few keys, half in order as an API sends them, are inserted quicker than sorted. */
function inOrder(keys: string[]): string[] {
  if (keys.length > fewKeys) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let at = i - 1
    for (; at >= 0 && (keys[at] as string) > key; at--) keys[at + 1] = keys[at] as string
    keys[at + 1] = key
  }
  return keys
}

/** A key with what stands around it: as the first one of an object, and after others. */
type WrittenKey = { readonly first: string; readonly next: string }

// Few names stand for nearly all keys. Some keys are data, so the memory is bounded.
const writtenKeys = new Map<string, WrittenKey>()
const writtenKeysKept = 10_000

function writtenKey(key: string): WrittenKey {
  const known = writtenKeys.get(key)
  if (known !== undefined) return known
  const text = quoted(key)
  // Joined, each is one text for V8. What + makes of longer ones it would put together anew each time.
  const written = { first: ['{', text, ':'].join(''), next: [',', text, ':'].join('') }
  if (writtenKeys.size < writtenKeysKept) writtenKeys.set(key, written)
  return written
}

/** Whether a value is an object of the kind that JSON.parse makes. */
export function isPlainObject(value: unknown): value is { [key: string]: Json } {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

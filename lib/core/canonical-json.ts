import { isRawNumber, type Json } from './json.ts'

/**
 * Canonical JSON (RFC 8785): keys in UTF-16 code unit order, numbers and strings as ECMAScript writes them, no white
 * space. Equal values give equal text, so a hash of the text identifies the value. A `RawNumber` is written with its
 * own digits, which RFC 8785 leaves undefined.
 * @throws TypeError for what JSON can't say (undefined, a Date, a Map, NaN …), instead of a silent `{}` or null.
 */
export const canonicalJson = (value: Json): string => {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return Object.is(value, -0) ? '0' : `${value}`
    throw new TypeError(`canonical JSON can't hold the number ${value}`)
  }
  if (value === null || typeof value === 'boolean') return `${value}`
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isRawNumber(value)) return value.rawJSON
  if (!isPlainObject(value)) throw new TypeError(`canonical JSON can't hold ${Object.prototype.toString.call(value)}`)
  let text = ''
  for (const key of Object.keys(value).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`
  }
  return `{${text}}`
}

/** Whether a value is an object of the kind that JSON.parse makes. */
export const isPlainObject = (value: unknown): value is { [key: string]: Json } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

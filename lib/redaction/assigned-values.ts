import { type Cover, codes, coverOf, folded, nothing, texts } from './names.ts'
import type { Surroundings } from './names-in-text.ts'
import { decoded, type Span } from './spans.ts'
import { isReference, isSecretText, looksSecret } from './values.ts'

/** A telling name with its sign at `at` and its value from `start` on. */
export type Assigned = Surroundings & {
  readonly text: string
  readonly name: string
  readonly isQuoted: boolean
  readonly cover: Cover
  readonly at: number
  readonly start: number
}

const parameter = /[^&#\s"'<>`;]+/y

/** The value of a URL's parameter. A number of few digits is a page or a count. */
export function findParameter({ text, start, cover }: Assigned): Span | undefined {
  parameter.lastIndex = start
  const length = parameter.exec(text)?.[0].length ?? 0
  let end = start + length
  while (end > start && '\\.,:!?)]}'.includes(text[end - 1] as string)) end -= 1
  const value = text.slice(start, end)
  if (value === '' || (cover < codes && /^\d{1,5}$/.test(value)) || isReference(value)) return undefined
  return { start, end, secret: decoded(value) }
}

const scheme = /(?:bearer|basic|token|digest|negotiate|apikey|bot|aws4-hmac-sha256|sso-key)(?:[ \t]+|%20|\+)/iy

/** The place after the word that says how a credential is to be read; `start` where there is none. */
export function afterScheme(text: string, start: number): number {
  scheme.lastIndex = start
  return scheme.test(text) ? scheme.lastIndex : start
}

/** Whether this is a header whose whole value is the credential. */
export function isAuthorization({ text, at, name }: Assigned): boolean {
  return text[at] !== '=' && /^(?:[\w-]*-)?authorization$|^(?:set-)?cookie2?$/i.test(folded(name))
}

const longestHeader = 8_192
const longestLook = 48

/** A header's value goes on to the end of its line, or to the quote that encloses the header. */
export function findHeader(assigned: Assigned): Span | undefined {
  const { text, start } = assigned
  const inner = afterScheme(text, start)
  if (inner === start && isProse(headerValue(assigned, inner, longestLook))) return undefined
  const value = headerValue(assigned, inner, longestHeader)
  return isSecretText(value, texts) ? { start: inner, end: inner + value.length } : undefined
}

function headerValue({ text, enclosedBy }: Assigned, start: number, longest: number): string {
  const near = text.slice(start, start + longest)
  const ends = [near.indexOf('\n'), enclosedBy === '' ? -1 : near.indexOf(enclosedBy)].filter((end) => end >= 0)
  let length = Math.min(near.length, ...ends)
  while (length > 0 && ' \t\r\\'.includes(near[length - 1] as string)) length -= 1
  return near.slice(0, length)
}

function isProse(value: string): boolean {
  const words = value.split(/\s+/)
  return words.length > 1 && !words.some((word) => looksSecret(word) || /[=;]/.test(word))
}

const longestExpression = 300

/** An unquoted value, unless it is a word of prose or of code. */
export function bareValue(assigned: Assigned): Span | undefined {
  const { text, start, name, cover } = assigned
  const begin = afterSchemeOfSecret(text, start)
  const end = endOfWord(text, begin, longestExpression)
  const value = text.slice(begin, end)
  if (!isSecretText(value, cover) || value.toLowerCase() === name.toLowerCase() || isCode(value)) return undefined
  if (/^[+-]?\d+(?:\.\d+)*%?$/.test(value))
    return cover === codes && value.length > 3 ? { start: begin, end } : undefined
  if (end - begin >= longestExpression / 2) return { start: begin, end: endOfWord(text, begin, text.length) }
  return begin > start || looksSecret(value) || isAlone(assigned, begin, end) ? { start: begin, end } : undefined
}

/** `token` is also a word and a variable: it is a scheme where a secret follows. */
function afterSchemeOfSecret(text: string, start: number): number {
  const begin = afterScheme(text, start)
  const isScheme =
    /^b/i.test(text.slice(start, begin)) || looksSecret(text.slice(begin, endOfWord(text, begin, longestExpression)))
  return isScheme ? begin : start
}

const next = /[&;,]\s?["']?[\w.-]{1,64}["']?[=:]/y

/**
 * The end of the word that begins at `start`, at most `longest` away: a space, a quote, an angle, or where the next name
 * and sign begin (`Password=x;Server=y`, `token=x&a=y`). Punctuation at its end is none of it.
 */
function endOfWord(text: string, start: number, longest: number): number {
  const limit = Math.min(text.length, start + longest)
  let end = start
  while (end < limit && !isEnd(text, end)) end += 1
  while (end > start && ',;:)]}\\'.includes(text[end - 1] as string)) end -= 1
  return end
}

function isEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code <= 32 || code === 34 || code === 39 || code === 60 || code === 62 || code === 96) return true
  if (code !== 38 && code !== 44 && code !== 59) return code === 0xa0 || code === 0x3000
  next.lastIndex = at
  return next.test(text)
}

const call = /^[A-Za-z_$][\w$.]*[([]/
const member = /^[&*!]?[A-Za-z_$]+(?:(?:\.|\?\.|::|->)[A-Za-z_$]+)+$/
const keyword =
  /^(?:await|new|function|async|lambda|return|typeof|this|self|null|none|nil|undefined|true|false|str|int|bytes|buffer|object)$/i
const variable = /^\$(?:[A-Z_][A-Z0-9_]*$|[a-z_]+-?$|[{(])/

/** An expression instead of a value: a call, a member, a variable, a type, another name of the same kind. */
export function isCode(value: string): boolean {
  if (/^[A-Za-z_]+$/.test(value) && coverOf(value) !== nothing) return true
  return call.test(value) || member.test(value) || keyword.test(value) || variable.test(value)
}

/**
 * A plain word is a value where nothing else stands beside it: `PASSWORD=word`, a line of YAML or INI, a quoted header.
 * In prose (`password: see below`) and in code (`password = other;`) it is none.
 */
function isAlone(assigned: Assigned, start: number, end: number): boolean {
  const { text, at, isFirst, isQuoted, enclosedBy } = assigned
  const after = text[end] ?? '\n'
  if (enclosedBy !== '' && after === enclosedBy && start > at + 1) return true
  const isTight = start === at + 1 && text[at - 1] !== ' '
  if (text[at] === '=' && isTight) return isFirst || !(after === ')' || after === ',')
  const value = text.slice(start, end)
  const isIdentifier = /[a-z][A-Z]|_/.test(value)
  return isFirst && !isQuoted && !isIdentifier && /^[ \t]*(?:#|\/\/|;[ \t]|[\r\n]|$)/.test(text.slice(end, end + 80))
}

/** A JSON value whose inexact numbers kept their digits (see `parseJson`). */
export type Json = null | boolean | number | string | RawNumber | Json[] | { [key: string]: Json }

/**
 * A number that a double can't hold, kept as its source text. Serialises to exactly those digits. (An interface, since
 * a type alias would pass for a JSON object.)
 */
export interface RawNumber {
  readonly rawJSON: string
}

// The DOM-less lib of TypeScript does not know JSON.rawJSON and the reviver's source text yet.
type ExactJson = {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}
const exactJson = JSON as unknown as ExactJson

/** Whether a value is a number kept as its digits. */
export function isRawNumber(value: unknown): value is RawNumber {
  return exactJson.isRawJSON(value)
}

// Sixteen or more digits, or an exponent of two or more digits: the only numbers that can be inexact. It may match
// inside a string, too, which costs a slower parse and nothing else; what may stand before a number keeps ids out.
const suspicious = /(?:^|[[:,])\s*-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d\d)/

const longest = 15
// An exponent that ends where a number may: not one of the many in hexadecimal ids.
const exponent = /\d[eE][+-]?\d\d+\s*(?:[,\]}]|$)/

/** Whether a JSON text may be suspicious: a quicker look, which most texts need not go beyond. */
function mayBeSuspicious(text: string): boolean {
  // A longer run holds one of these places.
  for (let at = longest; at < text.length; at += longest + 1) {
    if (isOfNumber(text.charCodeAt(at)) && lengthOfRun(text, at) > longest) return true
  }
  return exponent.test(text)
}

function lengthOfRun(text: string, at: number): number {
  let [from, to] = [at, at + 1]
  while (from > 0 && isOfNumber(text.charCodeAt(from - 1))) from -= 1
  while (to < text.length && isOfNumber(text.charCodeAt(to))) to += 1
  return to - from
}

/** A digit or a dot. */
function isOfNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46
}

/**
 * Parses JSON without rounding a number silently. Numbers that survive the trip through a double become numbers; the
 * others (integers beyond 2^53, more than 17 significant digits, overflow to infinity) become `RawNumber`s.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): Json {
  if (!mayBeSuspicious(text) || !suspicious.test(text)) return JSON.parse(text) as Json
  try {
    return exactJson.parse(text, keepDigits) as Json
  } catch (error) {
    // The parser takes any depth, what calls the reviver does not.
    if (!(error instanceof RangeError)) throw error
    return parseDeep(text)
  }
}

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && !holds(value, source) ? exactJson.rawJSON(source) : value
}

function holds(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  const { digits, isInteger } = significant(source)
  if (digits === '') return true
  // Up to 17 significant digits name one double. What is written as an integer must come back digit for digit.
  return isInteger ? significant(BigInt(value).toString()).digits === digits : digits.length <= 17 && value !== 0
}

/** The significant digits of a JSON number, and whether it is written as an integer: without fraction and exponent. */
function significant(source: string): { digits: string; isInteger: boolean } {
  const [mantissa = '', exponent] = source.replace(/^-/, '').toLowerCase().split('e')
  const [whole = '', fraction] = mantissa.split('.')
  const digits = `${whole}${fraction ?? ''}`.replace(/^0+/, '').replace(/0+$/, '')
  return { digits, isInteger: fraction === undefined && exponent === undefined }
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** Parses without the reviver: numbers that can't be held are marked as strings before, and made numbers again after. */
function parseDeep(text: string): Json {
  // With more NULs than all strings of the text have together: none of them begins like that.
  const mark = '\\u0000'.repeat(text.split('\\u0000').length)
  const marked = text.replace(stringOrNumber, (token) => {
    const isHeld = token.startsWith('"') || holds(Number(token), token)
    return isHeld ? token : `"${mark}${token}"`
  })
  return withNumbers(JSON.parse(marked) as Json, JSON.parse(`"${mark}"`) as string)
}

type Container = Json[] | { [key: string]: Json }

function withNumbers(parsed: Json, mark: string): Json {
  const whole: Json[] = [parsed]
  const waiting: Container[] = [whole]
  for (let container = waiting.pop(); container; container = waiting.pop()) {
    for (const key of Object.keys(container)) {
      const value = (container as { [key: string]: Json })[key]
      if (typeof value === 'string' && value.startsWith(mark)) {
        const number = exactJson.rawJSON(value.slice(mark.length))
        Object.defineProperty(container, key, { value: number, writable: true, enumerable: true, configurable: true })
      } else if (typeof value === 'object' && value !== null) waiting.push(value as Container)
    }
  }
  return whole[0] as Json
}

/** JSON of one line, also to readers that end a line at U+2028, U+2029 or U+0085. */
export function lineJson(value: unknown): string {
  return JSON.stringify(value).replace(otherLineEnds, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const otherLineEnds = /[\u0085\u2028\u2029]/g

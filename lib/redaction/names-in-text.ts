import { beforeEscapes, isQuote } from './quoted.ts'

/** A name that stands before a sign in a text. */
export type Name = {
  readonly text: string
  /** Where it begins, its quote included. */
  readonly start: number
  readonly isQuoted: boolean
}

const longest = 80
const isNameSign = new Uint8Array(128)
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.$%') {
  isNameSign[sign.charCodeAt(0)] = 1
}

/** Whether a character can be part of an unquoted name: of any script, but no space, bracket, quote or sign. */
function isOfName(code: number): boolean {
  if (code < 128) return isNameSign[code] === 1
  return (
    code > 0xa0 &&
    code !== 0x3000 &&
    code !== 0xff1a &&
    code !== 0xff1d &&
    (code < 0x2000 || code > 0x206f || isInvisible(code))
  )
}

/** Characters that a reader does not see, within a name. */
function isInvisible(code: number): boolean {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2060 && code <= 0x2064)
}

/** The name before the sign at `at`: `name=`, `name :`, `"name":`, `\"name\":`, `a["name"] =`, `name?:`. */
export function nameBefore(text: string, at: number): Name | undefined {
  let end = at
  const before = text.charCodeAt(at - 1)
  if (before === 63 || before === 43) end -= 1
  end = withoutSpaces(text, end)
  if (text.charCodeAt(end - 1) === 93) return text[at] === '=' ? nameInBrackets(text, end - 1) : undefined
  if (isQuote(text.charCodeAt(end - 1))) return quotedName(text, end - 1)
  let start = end
  while (start > 0 && end - start < longest && isOfName(text.charCodeAt(start - 1))) start -= 1
  if (start === end) return undefined
  const name = text.slice(start, end)
  return second.test(name) ? withWordBefore(text, start, name) : { text: name, start, isQuoted: false }
}

function withoutSpaces(text: string, from: number): number {
  let end = from
  while (end > 0 && from - end < longest && (text.charCodeAt(end - 1) === 32 || text.charCodeAt(end - 1) === 9))
    end -= 1
  return end
}

/** Words that say something only together with the word before them: `API key`, `recovery code`. */
const second = /^(?:keys?|codes?|phrase|id)$/i

function withWordBefore(text: string, start: number, name: string): Name {
  const before = /[A-Za-z]{2,20}(?: [A-Za-z]{2,20})? $/.exec(text.slice(Math.max(0, start - 42), start))?.[0] ?? ''
  return { text: before + name, start: start - before.length, isQuoted: false }
}

function quotedName(text: string, closing: number): Name | undefined {
  const quote = text[closing]
  const end = beforeEscapes(text, closing)
  let start = end
  while (start > 0 && end - start < longest && text[start - 1] !== quote && text[start - 1] !== '\n') start -= 1
  if (text[start - 1] !== quote || start === end) return undefined
  return { text: text.slice(start, end), start: beforeEscapes(text, start - 1), isQuoted: true }
}

function nameInBrackets(text: string, closing: number): Name | undefined {
  const near = text.slice(Math.max(0, closing - longest), closing)
  const opening = near.lastIndexOf('[')
  const name = near.slice(opening + 1).replace(/["'`\\]/g, '')
  if (opening < 0 || !/\p{L}/u.test(name)) return undefined
  return { text: name, start: closing - near.length + opening, isQuoted: false }
}

/** Where a name stands: that decides how much of what follows is its value. */
export type Surroundings = {
  readonly isParameter: boolean
  /** First on its line, but for spaces, list marks and words like `export`. */
  readonly isFirst: boolean
  /** The quote right before an unquoted name, as in `-H "Authorization: ..."`. */
  readonly enclosedBy: string
  /** Spaces before the line's first character. */
  readonly indent: number
}

const leading = /^[ \t]*(?:[-*>#;]{0,3}[ \t]+)?(?:(?:export|set|setx|env|declare -x|ENV|ARG|\$env:)[ \t]*)?$/

/** Whether a name stands after `?`, `&` or `#`, as the parameters of a URL do. */
export function isParameter(text: string, { start, isQuoted }: Name): boolean {
  const before = text.charCodeAt(start - 1)
  return !isQuoted && (before === 63 || before === 38 || before === 35 || text.startsWith('&amp;', start - 5))
}

/** Looks at what stands before a name. */
export function surroundingsOf(text: string, name: Name): Surroundings {
  const { start, isQuoted } = name
  const before = text[start - 1] ?? '\n'
  const near = text.slice(Math.max(0, start - longest), start)
  const head = near.slice(near.lastIndexOf('\n') + 1)
  const enclosed = !isQuoted && isQuote(before.charCodeAt(0))
  return {
    isParameter: isParameter(text, name),
    isFirst: (head.length < near.length || start <= longest) && leading.test(head),
    enclosedBy: enclosed ? before : '',
    indent: head.length - head.trimStart().length,
  }
}

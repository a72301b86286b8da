import { isCode } from './assigned-values.ts'
import { codes, coverOf, nothing } from './names.ts'
import type { Span } from './spans.ts'
import { looksSecret } from './values.ts'

/** What a text without any sign must hold for a secret to be spoken of in it. */
export const mayBeSpoken = /\b(?:bearer|basic)\s|pass|pwd|secret|token|cred|key/i

const scheme = /\b(bearer|basic)[ \t]{1,8}([\w.~+/-]{6,}={0,2})/gi

/** Finds credentials behind the name of their scheme, wherever that stands. */
export function findSchemes(text: string, spans: Span[]): void {
  for (const { 0: found, 1: name = '', 2: value = '', index } of text.matchAll(scheme)) {
    const isSecret = name.toLowerCase() === 'bearer' ? looksSecret(value) : /^[ -~]+:[ -~]*$/.test(fromBase64(value))
    if (isSecret) spans.push({ start: index + found.length - value.length, end: index + found.length })
  }
}

function fromBase64(value: string): string {
  return Buffer.from(value.slice(0, 400), 'base64').toString('latin1')
}

const stem = /pass|pwd|secret|token|cred|key/gi
const gap = /([ \t]+(?:is|was)(?:[ \t]+now)?:?)?[ \t]+["'`]?/y
const word = /[^\s"'`<>]{4,1024}/y
const longestName = 60

/** Finds what is told in words, where it looks made: `the password is hunter2`, `password hunter2`, `set API_TOKEN 1ab2`. */
export function findSpoken(text: string, spans: Span[]): void {
  let from = 0
  for (const { index } of text.matchAll(stem)) {
    if (index < from) continue
    const name = nameAround(text, index)
    from = name.end
    const cover = coverOf(text.slice(name.start, name.end))
    gap.lastIndex = name.end
    const said = cover === nothing ? null : gap.exec(text)
    if (said === null) continue
    const isTold = said[1] !== undefined || cover === codes || /_|[a-z][A-Z]/.test(text.slice(name.start, name.end))
    const value = isTold ? wordAt(text, gap.lastIndex) : undefined
    if (value) spans.push(value)
  }
}

function nameAround(text: string, at: number): Span {
  const isOfName = (place: number) => /[\w-]/.test(text[place] ?? '')
  let start = at
  while (start > 0 && at - start < longestName && isOfName(start - 1)) start -= 1
  let end = at
  while (end - at < longestName && isOfName(end)) end += 1
  return { start, end }
}

function wordAt(text: string, start: number): Span | undefined {
  word.lastIndex = start
  let end = start + (word.exec(text)?.[0].length ?? 0)
  while (end > start && ',.;:!?)'.includes(text[end - 1] as string)) end -= 1
  const value = text.slice(start, end)
  return looksSecret(value) && !isCode(value) ? { start, end } : undefined
}

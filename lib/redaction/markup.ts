import { isCode } from './assigned-values.ts'
import { coverOf } from './names.ts'
import { quoteAt, quotedFrom } from './quoted.ts'
import type { Span } from './spans.ts'
import { isSecretText } from './values.ts'

const element = />([^<>]{1,4096})<\/([\p{L}_][\p{L}\p{N}:_.-]{0,60})>/gu

/** Finds the content of telling elements: `<password>x</password>`. */
export function findElements(text: string, spans: Span[]): void {
  for (const { 1: content = '', 2: name = '', index } of text.matchAll(element)) {
    const cover = coverOf(name.slice(name.indexOf(':') + 1))
    const start = index + '>'.length
    if (isSecretText(content.trim(), cover)) spans.push({ start, end: start + content.length })
  }
}

const pair =
  /\b(?:name|key|header)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([^\s"'\\,;<>{}]{1,80})\\?["']?[\s,]{1,80}(?:- )?\\?["']?value\\?["']?\s{0,4}[:=]\s{0,4}/gi
const bare = /[^\s"'`<>,]{1,4096}/y

/** Finds pairs of name and value outside JSON: `- name: DB_PASS`, on the next line `value: x`; `<add key="" value=""/>`. */
export function findWrittenPairs(text: string, spans: Span[]): void {
  for (const { 0: found, 1: name = '', index } of text.matchAll(pair)) {
    const cover = coverOf(name)
    const start = index + found.length
    bare.lastIndex = start
    const end = start + (bare.exec(text)?.[0].length ?? 0)
    const { start: from, end: to } = (quoteAt(text, start) >= 0 ? quotedFrom(text, start) : undefined) ?? { start, end }
    const value = text.slice(from, to)
    if (isSecretText(value, cover) && !isCode(value)) spans.push({ start: from, end: to })
  }
}

import { type Assigned, afterScheme, bareValue, findHeader, findParameter, isAuthorization } from './assigned-values.ts'
import { findBlock, findInAngles, findInBrackets } from './blocks.ts'
import { coverOf, nothing, parameterCoverOf } from './names.ts'
import { isParameter, nameBefore, surroundingsOf } from './names-in-text.ts'
import { quoteAt, quotedFrom } from './quoted.ts'
import { decoded, endOfFingerprint, type Span } from './spans.ts'
import { isReference, isSecretText } from './values.ts'

const sign = /[=:\uff1a\uff1d]/g

/**
 * Finds what stands behind a telling name and a sign: JSON, YAML, headers, `.env` and INI files, parameters of a URL,
 * connection strings, assignments in code.
 */
export function findAssigned(text: string, spans: Span[]): void {
  const looked = { until: 0 }
  let from = 0
  for (;;) {
    sign.lastIndex = from
    const at = sign.exec(text)?.index
    if (at === undefined) return
    from = Math.max(at + 1, endOfFingerprint(text, at))
    const assigned = from > at + 1 ? undefined : assignedAt(text, at)
    if (assigned) from = Math.max(from, findValue(assigned, { spans, looked }))
  }
}

/** The value that the sign at `at` gives to a telling name. */
function assignedAt(text: string, at: number): Assigned | undefined {
  const name = nameBefore(text, at)
  // In arn:aws:secretsmanager:eu-west-1:1:secret:db the colons part words.
  if (name === undefined || (text[at] === ':' && text[name.start - 1] === ':')) return undefined
  const cover = isParameter(text, name) ? parameterCoverOf(decoded(name.text)) : coverOf(name.text)
  if (cover === nothing) return undefined
  const start = valueStart(text, at, name.isQuoted)
  if (start < 0) return undefined
  return { ...surroundingsOf(text, name), text, at, start, name: name.text, isQuoted: name.isQuoted, cover }
}

/** Where a value begins: after `==`, `=>`, spaces and the prefix of a literal; -1 when the line ends before. */
function valueStart(text: string, at: number, isQuoted: boolean): number {
  let start = at + 1
  if (text[at] === '=') while (start < at + 3 && (text[start] === '=' || text[start] === '>')) start += 1
  else if (text[start] === '=') start += 1
  else if (text[start] === ':') return -1
  const limit = start + 80
  while (start < limit && isGap(text.charCodeAt(start), isQuoted)) start += 1
  literalPrefix.lastIndex = start
  const length = literalPrefix.exec(text)?.[0].length ?? 0
  if (length > 0 && quoteAt(text, start + length) >= 0) start += length
  return start >= text.length || text[start] === '\n' || text[start] === '\r' ? -1 : start
}

const literalPrefix = /[bBfFrRuU@$]{0,2}/y

/** A space, or after a quoted name also the end of a line: JSON goes on there. */
function isGap(code: number, isQuoted: boolean): boolean {
  return code === 32 || code === 9 || (isQuoted && (code === 10 || code === 13))
}

type Findings = { spans: Span[]; looked: { until: number } }

/** Looks at a value and returns where to go on; 0 when nothing was found. */
function findValue(assigned: Assigned, { spans, looked }: Findings): number {
  const { text, at, start } = assigned
  if (quoteAt(text, start) >= 0) return findQuoted(assigned, spans)
  if (assigned.isParameter) return take(spans, findParameter(assigned))
  const first = text[start] as string
  if (first === '[' || first === '{') return isFunction(assigned) ? 0 : findInBrackets(assigned, spans, looked)
  if (first === '<') return take(spans, findInAngles(assigned))
  if ((first === '|' || first === '>') && text[at] === ':') return take(spans, findBlock(assigned))
  return take(spans, isAuthorization(assigned) ? findHeader(assigned) : bareValue(assigned))
}

/** `token => { ... }`, and the keys that are no secrets but a list of names. */
function isFunction({ text, at, name }: Assigned): boolean {
  return (text[at] === '=' && text[at + 1] === '>') || name.toLowerCase() === 'keys'
}

function take(spans: Span[], span: Span | undefined): number {
  if (span === undefined) return 0
  spans.push(span)
  return span.end
}

function findQuoted({ text, name, cover, start }: Assigned, spans: Span[]): number {
  const quoted = quotedFrom(text, start)
  if (quoted === undefined) return 0
  const value = text.slice(quoted.start, quoted.end)
  if (!isSecretText(value, cover) || value.toLowerCase() === name.toLowerCase()) return 0
  const inner = afterScheme(text, quoted.start)
  if (inner >= quoted.end || isReference(text.slice(inner, quoted.end))) return quoted.next
  spans.push({ start: inner, end: quoted.end })
  return quoted.next
}

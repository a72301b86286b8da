import { type Assigned, isCode } from './assigned-values.ts'
import { quoteAt, quotedFrom } from './quoted.ts'
import type { Span } from './spans.ts'
import { looksSecret } from './values.ts'

const longestBrackets = 20_000

/**
 * Finds the values in the brackets after a telling name that look like secrets: quoted ones and single words. `looked`
 * says how far brackets were looked at, so that nested ones are looked at once. Returns where to go on.
 */
export function findInBrackets({ text, start }: Assigned, spans: Span[], looked: { until: number }): number {
  if (start < looked.until) return start + 1
  const found: Span[] = []
  const limit = Math.min(text.length, start + longestBrackets)
  let depth = 0
  let at = start
  do {
    const character = text[at] as string
    if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    const value = valueAt(text, at)
    if (value && text[value.next] !== ':' && isSecretValue(text.slice(value.start, value.end))) found.push(value)
    at = Math.max(at + 1, value?.next ?? 0)
  } while (depth > 0 && at < limit)
  looked.until = at
  // Brackets that nobody closes are prose.
  if (depth <= 0) spans.push(...found)
  return start + 1
}

function isSecretValue(value: string): boolean {
  return looksSecret(value) && !isCode(value)
}

const word = /[^\s,:[\]{}"'`\\]+|\\+/y

type Value = Span & { next: number }

function valueAt(text: string, at: number): Value | undefined {
  const quoted = quoteAt(text, at) >= 0 ? quotedFrom(text, at) : undefined
  if (quoted) return quoted
  word.lastIndex = at
  const end = at + (word.exec(text)?.[0].length ?? 0)
  return end === at ? undefined : { start: at, end, next: end }
}

const angles = /<([^\s<>]{4,200})>/y

/** `<your-key>` says what to write there, unless somebody has: then it looks made. */
export function findInAngles({ text, start }: Assigned): Span | undefined {
  angles.lastIndex = start
  const value = angles.exec(text)?.[1] ?? ''
  return looksSecret(value) ? { start: start + 1, end: start + 1 + value.length } : undefined
}

const head = /[|>][+-]?\d?[+-]?[ \t]*\r?\n/y

/** The lines of a YAML block: those that are indented deeper than its name. */
export function findBlock({ text, start, indent }: Assigned): Span | undefined {
  head.lastIndex = start
  if (!head.test(text)) return undefined
  const lines = new RegExp(`(?:[ \\t]{${indent + 1},}[^\\n]*(?:\\n|$)|[ \\t]*\\r?\\n)*`, 'y')
  lines.lastIndex = head.lastIndex
  const block = lines.exec(text)?.[0] ?? ''
  const begin = head.lastIndex + block.length - block.trimStart().length
  const end = head.lastIndex + block.trimEnd().length
  return end > begin ? { start: begin, end } : undefined
}

import { type Json, parseJson } from '../core/json.ts'
import { rewriteJson } from './json-rewrite.ts'

/** A text whose JSON was changed, and whether there is anything else in it. */
export type ChangedText = { text: string; isAllJson: boolean }

const begin = /\{(?=\s{0,80}")|\[(?=\s{0,80}["{[])/g
/** How often a text may be read again in search of JSON that begins within what only looks like it. */
const readingsAtMost = 8

/** Changes the objects and lists of JSON in a text, and leaves all else in it. */
export function changeJsonIn(text: string, change: (value: Json) => Json): ChangedText {
  let clean = ''
  let from = 0
  let left = text.length * readingsAtMost
  begin.lastIndex = 0
  for (let start = begin.exec(text)?.index; start !== undefined && left > 0; start = begin.exec(text)?.index) {
    const end = endOfBrackets(text, start)
    left -= (end < 0 ? text.length : end) - start
    const part = end < 0 ? undefined : changedPart(text.slice(start, end), change)
    if (part === undefined) begin.lastIndex = start + 1
    else {
      if (text.slice(0, start).trim() === '' && text.slice(end).trim() === '') {
        return { text: text.slice(0, start) + part + text.slice(end), isAllJson: true }
      }
      clean += text.slice(from, start) + part
      from = begin.lastIndex = end
    }
  }
  return { text: from === 0 ? text : clean + text.slice(from), isAllJson: false }
}

/** The place after the bracket that closes the one at `start`; -1 when none does. */
function endOfBrackets(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = endOfString(text, at)
    else if (code === 0x7b || code === 0x5b) depth += 1
    else if (code === 0x7d || code === 0x5d) depth -= 1
    if (depth === 0) return at + 1
  }
  return -1
}

/** The place of the quote that closes the one at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}

/** A part with the changes in its JSON; undefined when it is none. */
function changedPart(part: string, change: (value: Json) => Json): string | undefined {
  const value = parsed(part)
  if (value === undefined) return undefined
  const changed = change(value)
  return changed === value ? part : rewriteJson(part, value, changed)
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

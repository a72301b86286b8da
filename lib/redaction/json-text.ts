import { isPlainObject } from '../core/canonical-json.ts'
import { type Json, parseJson } from '../core/json.ts'

type Layout = (value: Json) => string

const layouts: readonly Layout[] = [
  (value) => JSON.stringify(value),
  spaced,
  ...[2, 4, '\t', 1, 3, 8].map(
    (indent): Layout =>
      (value) =>
        JSON.stringify(value, null, indent),
  ),
]

/** One line with a space after each comma and colon, as Python writes it. */
function spaced(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (!isPlainObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
  return `{${members.join(', ')}}`
}

/**
 * A text that is a JSON object or list as a whole, changed by `change`, in its own layout where that is a usual one.
 * Undefined for any other text.
 */
export function changeJsonText(text: string, change: (value: Json) => Json): string | undefined {
  const trimmed = text.trim()
  const ends = `${trimmed.at(0)}${trimmed.at(-1)}`
  const value = ends === '{}' || ends === '[]' ? parsed(trimmed) : undefined
  if (value === undefined) return undefined
  const changed = change(value)
  if (changed === value) return text
  const layout = layouts.find((candidate) => written(value, candidate) === trimmed) ?? JSON.stringify
  const lead = text.length - text.trimStart().length
  const result = written(changed, layout)
  return result === undefined ? undefined : text.slice(0, lead) + result + text.slice(lead + trimmed.length)
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Undefined when the value lies too deep to be written. */
function written(value: Json, layout: Layout): string | undefined {
  try {
    return layout(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

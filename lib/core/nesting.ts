import { isPlainObject } from './canonical-json.ts'
import type { Json } from './json.ts'

/** How deep a record may be nested: what is received is walked by functions that call themselves. */
export const levelsAllowed = 200

/** Whether lists and objects stand within each other deeper than that. */
export function isTooDeep(value: Json, levels = levelsAllowed): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    if (levels === 0) return true
    for (let i = 0; i < value.length; i++) if (isTooDeep(value[i] as Json, levels - 1)) return true
    return false
  }
  if (!isPlainObject(value)) return false
  if (levels === 0) return true
  for (const key in value) if (isTooDeep(value[key] as Json, levels - 1)) return true
  return false
}

/** A value of any depth in parts that are not too deep; each names the parts that were taken out of it. */
type Part = { readonly value: Json; readonly taken: ReadonlyMap<string, Json> }

/**
 * The JSON text of a value of any depth, and its uppermost part. `change` is applied to it part by part. Where it
 * replaces the name of a part, as it would replace a text in that place, the part is left out with all below it.
 */
export function deepText(whole: Json, change: (part: Json) => Json): { text: string; top: Json } {
  const pieces: string[] = []
  const waiting: (string | { below: Json })[] = [{ below: whole }]
  let top: Json | undefined
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') pieces.push(next)
    else {
      const { value, taken } = partOf(next.below)
      const changed = change(value)
      top ??= changed
      // One by one: a call takes no more arguments than its stack holds, and a record may be as wide as it is deep.
      for (const piece of inPieces(changed, taken).reverse()) waiting.push(piece)
    }
  }
  return { text: pieces.join(''), top: top as Json }
}

function partOf(whole: Json): Part {
  const taken = new Map<string, Json>()
  const copied = (value: Json, levels: number): Json => {
    const isList = Array.isArray(value)
    if (!isList && !isPlainObject(value)) return value
    if (levels === 0) {
      const name = `part ${taken.size + 1} of what is nested deeper`
      taken.set(name, value)
      return name
    }
    if (isList) return value.map((inner) => copied(inner, levels - 1))
    const copy = Object.create(null) as { [key: string]: Json }
    for (const key in value) copy[key] = copied(value[key] as Json, levels - 1)
    return copy
  }
  return { value: copied(whole, levelsAllowed), taken }
}

/** Text and, where parts were taken out, what belongs there. */
function inPieces(value: Json, taken: Part['taken']): (string | { below: Json })[] {
  const pieces: (string | { below: Json })[] = []
  const write = (inner: Json): void => {
    const below = typeof inner === 'string' ? taken.get(inner) : undefined
    if (below !== undefined) pieces.push({ below })
    else if (Array.isArray(inner)) {
      inner.forEach((element, i) => {
        pieces.push(i === 0 ? '[' : ',')
        write(element)
      })
      pieces.push(inner.length === 0 ? '[]' : ']')
    } else if (isPlainObject(inner)) {
      const keys = Object.keys(inner)
      keys.forEach((key, i) => {
        pieces.push(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`)
        write(inner[key] as Json)
      })
      pieces.push(keys.length === 0 ? '{}' : '}')
    } else pieces.push(JSON.stringify(inner))
  }
  write(value)
  return pieces
}

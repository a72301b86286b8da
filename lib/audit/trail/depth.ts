import { isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { isTooDeep, levelsAllowed } from '../../core/nesting.ts'

/** The levels of nesting that a revision may have. What lies deeper is cut off, so that no reader of the trail can be sunk by it. */
export const deepest = levelsAllowed

/** What stands in the place of what was cut off. */
const cutMark = `[nested deeper than ${deepest} levels]`

/** A value without what is nested deeper than so many levels; the same value when nothing is. */
export function cutBelow(value: Json, levels = deepest): Json {
  return isTooDeep(value, levels) ? cut(value, levels) : value
}

function cut(value: Json, levels: number): Json {
  if (!Array.isArray(value) && !isPlainObject(value)) return value
  if (levels === 0) return cutMark
  if (Array.isArray(value)) return value.map((child) => cut(child, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, cut(child, levels - 1)]))
}

import { isRawNumber, type Json } from '../core/json.ts'
import { setOwn } from '../core/own-property.ts'
import { codes, nothing, wider } from './names.ts'
import { takesAccount } from './options.ts'
import { coverAfter, holdsKind, holdsName, holdsValue, pairCoverOf } from './pairs.ts'
import type { Place, Plan } from './plan.ts'
import type { Fingerprint } from './spans.ts'
import type { TextRedactor } from './text.ts'
import { isSecretText, tooDeep } from './values.ts'

/** How many levels of a record are looked into; what lies deeper is left out as a whole, so that no depth is too much. */
const levelsLookedInto = 256

/** What a walk needs to know; the level is that of the value it is at. */
export type Walk = { readonly fingerprint: Fingerprint; readonly redactText: TextRedactor; level: number }

/** A walk through one record by the plan of its kind. */
export type Way = { readonly walk: Walk; readonly plan: Plan }

type JsonObject = { [key: string]: Json }

/** The value without its secrets; the same value when it holds none. Never changes its input. */
export function walkThrough(value: Json, way: Way): Json {
  const { level } = way.walk
  try {
    return clean(way, value, way.plan.root)
  } finally {
    way.walk.level = level
  }
}

function clean(way: Way, value: Json, place: Place): Json {
  const { walk } = way
  if (typeof value === 'string') {
    return place.cover !== nothing && isSecretText(value, place.cover)
      ? walk.fingerprint(value)
      : walk.redactText(value)
  }
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return place.cover >= codes ? walk.fingerprint(`${value}`) : value
  if (Array.isArray(value)) return walk.level >= levelsLookedInto ? tooDeep : cleanList(way, value, place)
  if (isRawNumber(value)) return place.cover >= codes ? walk.fingerprint(value.rawJSON) : value
  return walk.level >= levelsLookedInto ? tooDeep : cleanObject(way, value, place)
}

function cleanList(way: Way, values: Json[], place: Place): Json[] {
  let copy: Json[] | undefined
  way.walk.level += 1
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as Json
    const before = values[i - 1]
    const result = typeof before === 'string' ? cleanAfter(way, { before, value }, place) : clean(way, value, place)
    if (result === value) continue
    copy ??= values.slice()
    copy[i] = result
  }
  way.walk.level -= 1
  return copy ?? values
}

/** An element that the one before it may name: `"--token", "x"`, `"Authorization", "x"`, `"-u", "user:password"`. */
function cleanAfter(way: Way, { before, value }: { before: string; value: Json }, place: Place): Json {
  if (typeof value === 'object') return clean(way, value, place)
  const result = clean(way, value, way.plan.covered(place, coverAfter(before, value)))
  if (typeof result !== 'string' || !takesAccount(before)) return result
  return way.walk.redactText(`${before} ${result}`).slice(before.length + 1)
}

function cleanObject(way: Way, object: JsonObject, place: Place): JsonObject {
  let copy: JsonObject | undefined
  let roles = 0
  let hasSecretKey = false
  way.walk.level += 1
  for (const name in object) {
    const value = object[name] as Json
    const { below, role, clean: key } = place.keys.get(name) ?? way.plan.key(place, name)
    roles |= role
    if (key !== name) hasSecretKey = true
    // Most values are numbers of no secret: they need no call.
    if (typeof value === 'number' && below.cover < codes) continue
    const result = clean(way, value, below)
    if (result === value) continue
    copy ??= { ...object }
    setOwn(copy, name, result)
  }
  const isPair = (roles & holdsValue) !== 0 && (roles & (holdsName | holdsKind)) !== 0
  if (isPair) copy = cleanPair(way, { object, copy }, place)
  way.walk.level -= 1
  return hasSecretKey ? withCleanKeys(way, copy ?? object, place) : (copy ?? object)
}

type Half = { object: JsonObject; copy: JsonObject | undefined }

/** Hides the values of a pair whose name is telling, as it came or as it is read the next time. */
function cleanPair(way: Way, { object, copy }: Half, place: Place): JsonObject | undefined {
  const roleOf = (name: string) => way.plan.key(place, name).role
  const cover = wider(pairCoverOf(object, roleOf), copy ? pairCoverOf(copy, roleOf) : nothing)
  if (cover === nothing) return copy
  let paired = copy
  for (const name in object) {
    const { below, role } = way.plan.key(place, name)
    const value = (copy ?? object)[name] as Json
    if (role !== holdsValue) continue
    const result = clean(way, value, way.plan.covered(below, cover))
    if (result === value) continue
    paired ??= { ...object }
    setOwn(paired, name, result)
  }
  return paired
}

/** The object under keys without secrets. Two spellings of one secret give one key, and neither value may go. */
function withCleanKeys(way: Way, object: JsonObject, place: Place): JsonObject {
  const copy: JsonObject = {}
  for (const name in object) {
    let key = way.plan.key(place, name).clean
    while (Object.hasOwn(copy, key)) key += ' (again)'
    setOwn(copy, key, object[name] as Json)
  }
  return copy
}

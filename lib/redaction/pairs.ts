import type { Json } from '../core/json.ts'
import { type Cover, coverOf, nothing } from './names.ts'
import { optionCoverOf } from './options.ts'
import { looksSecret } from './values.ts'

/** What a key holds in an object that is a pair of a name and a value, as bits. */
export const holdsName = 1
export const holdsKind = 2
export const holdsValue = 4

const nameKeys = new Set(
  `name key header headername field fieldname param paramname parameter parametername property propertyname variable
  variablename var varname envvar envname env option optionname flag attribute setting k id label`.split(/\s+/),
)
const kindKeys = new Set(['type', 'kind'])
const valueKeys = new Set('value val v values content data default defaultvalue currentvalue'.split(' '))

/** The part that a key can play in a pair: `{ name: "Authorization", value: "..." }`. */
export function roleOf(key: string): number {
  if (key.length > 14) return 0
  const plain = key.toLowerCase().replace(/[_-]/g, '')
  if (nameKeys.has(plain)) return holdsName
  if (kindKeys.has(plain)) return holdsKind
  return valueKeys.has(plain) ? holdsValue : 0
}

/** What the names in a pair say about the values in it. */
export function pairCoverOf(object: { [key: string]: Json }, roles: (key: string) => number): Cover {
  let cover: Cover = nothing
  for (const key in object) {
    const named = object[key]
    const role = roles(key)
    if (typeof named !== 'string' || (role !== holdsName && role !== holdsKind)) continue
    const own = coverOf(named.replace(/^-+/, ''))
    // A `type` is also the type of words: { type: "token", value: "the" }.
    if (own > cover && (role === holdsName || hasSecretValue(object, roles))) cover = own
  }
  return cover
}

function hasSecretValue(object: { [key: string]: Json }, roles: (key: string) => number): boolean {
  return Object.keys(object).some((key) => {
    const value = object[key]
    return roles(key) === holdsValue && typeof value === 'string' && looksSecret(value)
  })
}

const longestName = 40
const plainName = /^[\p{L}\p{M}\p{N}_. -]+$/u

/** What an element of a list says about the one after it: an option's argument, or the value of a header in a tuple. */
export function coverAfter(before: string, value: Json): Cover {
  if (before.length > longestName) return nothing
  if (before.charCodeAt(0) === 45)
    return typeof value === 'string' && value.startsWith('-') ? nothing : optionCoverOf(before)
  if (typeof value !== 'string' || value.length > 4096) return nothing
  const cover = coverOf(before)
  return cover !== nothing && plainName.test(before) && looksSecret(value) ? cover : nothing
}

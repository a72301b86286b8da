import { isPlainObject } from '../../core/canonical-json.ts'
import { keysOf } from '../../core/field-path.ts'
import { isRawNumber, type Json } from '../../core/json.ts'
import { setOwn } from '../../core/own-property.ts'
import type { Hasher } from './hashing.ts'

/** What becomes of a field: kept, replaced by length and fingerprint, or left out. */
export const fieldChoices = ['keep', 'hash', 'drop'] as const
export type FieldChoice = (typeof fieldChoices)[number]

/** Choices by the path of the field: `email`, `user.email`, `settings.managedComputersAllowedEmails[]`, `report.*.rationale`. */
export type FieldRules = Readonly<Record<string, FieldChoice>>

type Step = { readonly keys: ReadonlyMap<string, Step>; readonly choice: FieldChoice | undefined }

/** Applies choices to records. A record without such fields is answered as it is; none is changed in place. */
export function createFieldProtector(rules: FieldRules, hash: Hasher): (record: Json) => Json {
  const root = compile(Object.entries(rules).map(([path, choice]) => ({ keys: keysOf(path), choice })))
  return root.keys.size === 0 ? (record) => record : (record) => applied(record, root, hash)
}

type Rule = { readonly keys: readonly string[]; readonly choice: FieldChoice }

function compile(rules: readonly Rule[]): Step {
  const names = new Set(rules.flatMap(({ keys }) => keys.slice(0, 1)))
  const below = (name: string) =>
    rules.filter(({ keys }) => keys[0] === name).map(({ keys, choice }) => ({ keys: keys.slice(1), choice }))
  const choice = rules.find(({ keys }) => keys.length === 0)?.choice
  return { choice, keys: new Map([...names].map((name) => [name, compile(below(name))])) }
}

function applied(value: Json, step: Step, hash: Hasher): Json {
  if (step.choice === 'hash') return hashedBelow(value, hash)
  if (Array.isArray(value)) {
    const inner = step.keys.get('[]')
    if (inner === undefined) return value
    return inner.choice === 'drop' ? [] : value.map((each) => applied(each, inner, hash))
  }
  if (!isPlainObject(value)) return value
  let copy: { [key: string]: Json } | undefined
  for (const name in value) {
    const inner = step.keys.get(name) ?? step.keys.get('*')
    if (inner === undefined || inner.choice === 'keep') continue
    copy ??= { ...value }
    if (inner.choice === 'drop') delete copy[name]
    else setOwn(copy, name, applied(value[name] as Json, inner, hash))
  }
  return copy ?? value
}

/** Hashes texts and numbers; lists and objects keep their form. */
function hashedBelow(value: Json, hash: Hasher): Json {
  if (Array.isArray(value)) return value.map((each) => hashedBelow(each, hash))
  if (isPlainObject(value)) {
    const copy: { [key: string]: Json } = {}
    for (const name in value) setOwn(copy, name, hashedBelow(value[name] as Json, hash))
    return copy
  }
  return typeof value === 'string' || typeof value === 'number' || isRawNumber(value) ? hash(value) : value
}

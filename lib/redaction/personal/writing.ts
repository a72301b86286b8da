import { isPlainObject } from '../../core/canonical-json.ts'
import { isRawNumber, type Json } from '../../core/json.ts'
import { setOwn } from '../../core/own-property.ts'
import type { Redactor, SecretRules } from '../redact.ts'
import { withoutAttachments } from './attachments.ts'
import type { Hasher } from './hashing.ts'

/** What becomes of what people and models wrote: without its secrets, length and fingerprint only, or as it came. */
export const contentChoices = ['redacted', 'hashed', 'full'] as const
export type ContentChoice = (typeof contentChoices)[number]

/** What becomes of images and files in it. */
export const attachmentChoices = ['replaced', 'kept'] as const

/** The choices of an installation. */
export type ContentRules = {
  readonly content: ContentChoice
  /** Other choices for what is written in one role. */
  readonly roles: Readonly<Record<string, ContentChoice>>
  readonly attachments: (typeof attachmentChoices)[number]
}

/** The choices where the configuration makes none. */
export const defaultContents: ContentRules = { content: 'redacted', roles: {}, attachments: 'replaced' }

/** Where somebody writes in a kind of record: in every field but those that are named here, unknown ones too. */
export type Writing = {
  /** The field that says in which role it was written, and the roles there are. */
  readonly role: string
  readonly roles: readonly string[]
  /** Fields that identify the record: kept as they are. */
  readonly ids: readonly string[]
  /** Fields that say something about it: kept unless they hold what no such field holds. */
  readonly facts: readonly string[]
}

type Deps = { readonly redactor: Pick<Redactor, 'redact'>; readonly hash: Hasher; readonly rules: ContentRules }
type Kind = { readonly writing: Writing; readonly secrets: SecretRules }
type JsonObject = { [key: string]: Json }

/** Applies the choices of an installation to a record in which somebody writes. What is no object is all writing. */
export function createWritingProtector({ redactor, hash, rules }: Deps) {
  return (record: Json, { writing, secrets }: Kind): Json => {
    const choice = choiceFor(record, writing, rules)
    if (choice === 'hashed') return redactor.redact(hashedRecord(record, writing, hash), secrets)
    const lean = rules.attachments === 'kept' ? record : withoutAttachmentsIn(record, writing)
    return choice === 'full' && isPlainObject(lean)
      ? { ...lean, ...(redactor.redact(factsOf(lean, writing), secrets) as JsonObject) }
      : redactor.redact(lean, secrets)
  }
}

/** Of a record whose role is not known the strictest choice holds: nobody chose for it. */
function choiceFor(record: Json, { role, roles }: Writing, rules: ContentRules): ContentChoice {
  const named = isPlainObject(record) ? record[role] : undefined
  if (typeof named === 'string' && (roles.includes(named) || Object.hasOwn(rules.roles, named))) {
    return Object.hasOwn(rules.roles, named) ? (rules.roles[named] as ContentChoice) : rules.content
  }
  const made = [rules.content, ...Object.values(rules.roles)]
  return (['hashed', 'redacted', 'full'] as const).find((choice) => made.includes(choice)) as ContentChoice
}

function isFact(name: string, { ids, facts, role }: Writing): boolean {
  return name === role || ids.includes(name) || facts.includes(name)
}

function factsOf(record: JsonObject, writing: Writing): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => isFact(name, writing)))
}

function withoutAttachmentsIn(record: Json, writing: Writing): Json {
  if (!isPlainObject(record)) return withoutAttachments(record)
  return changed(record, (value, name) => (isFact(name, writing) ? value : withoutAttachments(value)))
}

function hashedRecord(record: Json, writing: Writing, hash: Hasher): Json {
  if (!isPlainObject(record)) return hash(record)
  if (!hasNames(record)) return hashedRecord(withNames(record, hash), writing, hash)
  return changed(record, (value, name) => {
    if (writing.ids.includes(name) && typeof value === 'string') return value
    if (isFact(name, writing)) return isPlain(value) ? value : hash(value)
    return hashedBlocks(value, { hash, levels: levelsOfBlocks })
  })
}

/** Whether all keys are names that a program would give. Others can be what somebody wrote. */
function hasNames(object: JsonObject): boolean {
  return Object.keys(object).every(isName)
}

function isName(key: string): boolean {
  return /^[\w.-]{1,64}$/.test(key)
}

function withNames(object: JsonObject, hash: Hasher): JsonObject {
  const named = (key: string) => (isName(key) ? key : (hash(key) as string).replaceAll(':', '.'))
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [named(key), value]))
}

type Hashing = { readonly hash: Hasher; readonly levels: number }

// Results of tools hold blocks of their own. Whatever lies deeper is hashed as a whole.
const levelsOfBlocks = 6
const blockFacts = new Set(
  `type id toolUseId tool_use_id toolCallId tool_call_id mediaType media_type mimeType mime_type signatureProvider
  isError is_error`.split(/\s+/),
)
const holdBlocks = new Set(['content', 'source', 'blocks', 'parts'])

/** Blocks keep their members, of which only the facts can be read. Everything else is a text of one piece. */
function hashedBlocks(value: Json, { hash, levels }: Hashing): Json {
  if (levels === 0) return hash(value)
  const inner: Hashing = { hash, levels: levels - 1 }
  if (Array.isArray(value)) return value.map((each) => hashedBlocks(each, inner))
  if (!isPlainObject(value) || typeof value.type !== 'string' || !hasNames(value)) return hash(value)
  return changed(value, (member, name) => {
    if (blockFacts.has(name) && isPlain(member)) return member
    return holdBlocks.has(name) ? hashedBlocks(member, inner) : hash(member)
  })
}

/** A number, a flag, or a text in which nobody writes: printable letters of ASCII in one piece. */
function isPlain(value: Json): boolean {
  return typeof value === 'string'
    ? /^[\x21-\x7e]{1,256}$/.test(value)
    : typeof value !== 'object' || isRawNumber(value)
}

/** The object with other values; the same one where none is another. */
function changed(object: JsonObject, change: (value: Json, name: string) => Json): JsonObject {
  let copy: JsonObject | undefined
  for (const name in object) {
    const value = object[name] as Json
    const result = change(value, name)
    if (result === value) continue
    copy ??= { ...object }
    setOwn(copy, name, result)
  }
  return copy ?? object
}

import type { Json } from '../../core/json.ts'
import type { Redactor, SecretRules } from '../redact.ts'
import { createFieldProtector, type FieldRules } from './fields.ts'
import { createHasher } from './hashing.ts'
import { type ContentRules, createWritingProtector, defaultContents, type Writing } from './writing.ts'

/** What an installation keeps of what says something about people. */
export type Privacy = {
  readonly contents: ContentRules
  /** Choices for fields, by the name of the stream. */
  readonly fields: Readonly<Record<string, FieldRules>>
}

/** What is kept where the configuration makes no choice. */
export const defaultPrivacy: Privacy = { contents: defaultContents, fields: {} }

/** A kind of record. A stream is one; a shard of it has the stream's name and a number after a slash. */
export type ProtectedKind = SecretRules & { readonly name: string; readonly writing?: Writing }

/** The record as it may be compared, stored and told. Never changes its input. */
export type Protect = (record: Json, kind: ProtectedKind) => Json

type Deps = {
  readonly redactor: Pick<Redactor, 'redact'>
  readonly key: string | Uint8Array
  readonly privacy: Privacy
}

/**
 * Gives what every record passes through right after it is parsed: secrets are replaced, and what says something about
 * people is kept, hashed or dropped as an installation chose. One key serves both: who has it can test guesses.
 */
export function createProtector({ redactor, key, privacy }: Deps): Protect {
  const hash = createHasher(key)
  const protectWriting = createWritingProtector({ redactor, hash, rules: privacy.contents })
  const fieldsOf = new Map(
    Object.entries(privacy.fields).map(([name, rules]) => [name, createFieldProtector(rules, hash)]),
  )
  return (record, kind) => {
    const { writing } = kind
    const clean = writing ? protectWriting(record, { writing, secrets: kind }) : redactor.redact(record, kind)
    return fieldsOf.size === 0 ? clean : (fieldsOf.get(streamNameOf(kind))?.(clean) ?? clean)
  }
}

function streamNameOf({ name }: ProtectedKind): string {
  const slash = name.indexOf('/')
  return slash < 0 ? name : name.slice(0, slash)
}

import * as z from 'zod'
import { canonicalJson, isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { lazyObject } from '../../core/schema.ts'
import { cutBelow, deepest } from './depth.ts'
import { unseal } from './sealed.ts'

function hex(digits: number) {
  return z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`))
}
function json() {
  return z.custom<Json>((value) => value !== undefined)
}

/** Fields that all objects of the three chains have. */
export const linkFields = {
  version: z.literal(1).describe('Of this format.'),
  sequence: z.int().min(1).describe('Place in its chain, from 1 without gaps.'),
  previousHash: hex(64).describe('Hash of the object before it; 64 zeros in the first.'),
  hash: hex(64).describe('SHA-256 of the canonical JSON (RFC 8785) of all other fields.'),
}

/** One revision of the enterprise settings as it was first seen, or as it was seen again with another content. */
export const AuditEntry = lazyObject(() => ({
  ...linkFields,
  recordedAt: z.string().describe('ISO 8601, UTC.'),
  redactionKey: hex(16).describe('Names the key of the fingerprints: only those under one key can be compared.'),
  revision: z.int(),
  updatedAt: json().optional().describe('As the platform sent it, whatever its form.'),
  user: json().optional().describe('As the platform sent it, whatever its form.'),
  settings: json().optional().describe('As the platform sent it, whatever its form; secrets replaced by fingerprints.'),
  otherFields: json().optional().describe('Fields of the revision that this format does not know.'),
}))
export type AuditEntry = z.infer<typeof AuditEntry>

/** A reference to an entry: the revision that it recorded, and its place in the chain. */
export type EntryRef = Pick<AuditEntry, 'revision' | 'sequence'>

/** A revision as the platform sent it, redacted. */
export type Revision = { [key: string]: Json }

/** An entry without its place. A field that the platform did not send is absent, not null. */
export type EntryDraft = Omit<AuditEntry, 'hash' | 'previousHash' | 'sequence' | 'version'>

/** Drafts the entry of a redacted revision. */
export function draftEntry(revision: Revision, seen: { recordedAt: string; redactionKey: string }): EntryDraft {
  const { revision: number, updatedAt, user, settings, ...otherFields } = revision
  return {
    ...seen,
    revision: number as number,
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...(user === undefined ? {} : { user }),
    ...(settings === undefined ? {} : { settings }),
    ...(Object.keys(otherFields).length === 0 ? {} : { otherFields }),
  }
}

/** Reads an entry from its stored bytes; null when it is missing, altered, or no entry. */
export function readEntry(bytes: Uint8Array | null): AuditEntry | null {
  const object = bytes && unseal(bytes)
  return object ? entryOf(object.value) : null
}

/** The entry that a stored value is, bounded in depth; null when it is none. */
export function entryOf(value: Json): AuditEntry | null {
  // Further fields of a revision lie a level deeper in its entry.
  return AuditEntry.safeParse(cutBelow(value, deepest + 1)).data ?? null
}

/** The redacted revision that an entry recorded. */
export function revisionOf({ revision, updatedAt, user, settings, otherFields }: AuditEntry | EntryDraft): Revision {
  return {
    ...(otherFields as Revision | undefined),
    revision,
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...(user === undefined ? {} : { user }),
    ...(settings === undefined ? {} : { settings }),
  }
}

const fingerprints = /redacted:hmac-sha256:[0-9a-f]{16}/g

/** The mark that stands for a secret wherever people read. */
const secretMark = '[secret]'

/** A value for people's eyes: fingerprints, also those inside URLs, give way to one mark. Bounded in depth. */
export function masked(value: Json): Json {
  return masking(cutBelow(value))
}

function masking(value: Json): Json {
  if (typeof value === 'string') return value.replace(fingerprints, secretMark)
  if (Array.isArray(value)) return value.map(masking)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, masking(child)]))
}

/** Compares two values without their fingerprints: true when nothing else differs. */
export function equalButForSecrets(a: Json, b: Json): boolean {
  return canonicalJson(masked(a)) === canonicalJson(masked(b))
}

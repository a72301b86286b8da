import { createHash } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json.ts'
import { ofKnownForm } from '../../core/form.ts'
import { sha256 } from '../../core/hash.ts'
import { type Json, parseJson } from '../../core/json.ts'

/** The three chains of the trail. Each object names its predecessor's hash. */
export type ChainName = 'entries' | 'findings' | 'digests'

/** The chains, in the order in which they are read and shown. */
export const chainNames: readonly ChainName[] = ['entries', 'findings', 'digests']

/** The beginning of every object of a chain: its place, and the hash of the object before it. */
export type Link = { version: 1; sequence: number; previousHash: string }

/** `previousHash` of the first object of a chain. */
export const genesis = '0'.repeat(64)

/** The key of an object of a chain. */
export function keyOf(chain: ChainName, sequence: number): string {
  return `${prefixOf(chain)}${String(sequence).padStart(10, '0')}.json`
}

/** The prefix of the keys of a chain. */
export function prefixOf(chain: ChainName): string {
  return `audit/${chain}/`
}

/** The sequence that a chain's key names, or null when it is no such key. */
export function sequenceOf(chain: ChainName, key: string): number | null {
  const name = key.startsWith(prefixOf(chain)) ? key.slice(prefixOf(chain).length) : ''
  return /^\d{10}\.json$/.test(name) && Number(name.slice(0, 10)) > 0 ? Number(name.slice(0, 10)) : null
}

/**
 * The stored bytes of an object, and its hash: SHA-256 over the canonical JSON of all but `hash`. No name may sort before
 * `hash`, so that the stored text begins with it and can be checked without knowing canonical JSON: take the first
 * 75 bytes away, put a `{` in their place, and hash.
 */
export function seal(fields: Link & { [key: string]: Json | undefined }): { hash: string; bytes: Uint8Array } {
  const present = Object.entries(fields).filter((field): field is [string, Json] => field[1] !== undefined)
  const early = present.find(([name]) => name <= 'hash')
  if (early) throw new TypeError(`"${early[0]}" would stand before the hash in the stored text`)
  const text = canonicalJson(Object.fromEntries(present))
  const hash = sha256(text)
  return { hash, bytes: Buffer.from(`{"hash":"${hash}",${text.slice(1)}`) }
}

const opening = /^\{"hash":"([0-9a-f]{64})",$/
const openingBytes = 75

/** The hash that stored bytes state, and the one they have. Null when they do not begin as `seal` writes them. */
export function hashesOf(bytes: Uint8Array): { stated: string; computed: string } | null {
  const stated = opening.exec(Buffer.from(bytes.subarray(0, openingBytes)).toString('latin1'))?.[1]
  if (stated === undefined) return null
  return { stated, computed: createHash('sha256').update('{').update(bytes.subarray(openingBytes)).digest('hex') }
}

/**
 * The value of stored bytes whose hash is right and that can be read; null for all others.
 * @throws FatalError `configuration` for what a later version wrote.
 */
export function unseal(bytes: Uint8Array): { hash: string; value: Json } | null {
  const hashes = hashesOf(bytes)
  if (hashes === null || hashes.stated !== hashes.computed) return null
  const value = parsedValue(bytes)
  if (value === undefined) return null
  refuseLaterObject(value)
  return { hash: hashes.stated, value }
}

/**
 * Refuses an object of a chain that a later version wrote: read by half it would be taken for one that is altered or missing.
 * @throws FatalError `configuration`
 */
export function refuseLaterObject(value: unknown): void {
  ofKnownForm(value, { what: 'audit trail' })
}

function parsedValue(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

import { createHmac } from 'node:crypto'
import { FatalError } from '../core/errors.ts'
import { isRawNumber, type Json } from '../core/json.ts'
import { compilePaths, type PathState } from './secret-paths.ts'

/** Where secrets lie in a kind of record. A stream is one. */
export type SecretRules = {
  /**
   * `customModels[].apiKey` at any depth, with all scalars below it; `*` stands for any one key, and arrays need not be
   * named. Pass the same list each time: it is compiled once.
   */
  readonly secretPaths: readonly string[]
  /** Top-level maps whose keys are data, not names: a criterion that is called secret_scanning is no secret. */
  readonly dataMaps?: readonly string[]
}

/** Replaces secret values by fingerprints, before anything is hashed, stored or logged. */
export type Redactor = {
  /**
   * The record without its secrets; the same object when it holds none. Never changes its input, and leaves what it
   * already replaced.
   */
  redact(record: Json, rules: SecretRules): Json
}

/** What a replaced value looks like: equal secrets give equal fingerprints, so that a rotation is visible. */
export function isRedacted(value: unknown): boolean {
  return typeof value === 'string' && redacted.test(value)
}

/**
 * A redactor whose fingerprints are HMAC-SHA-256 under `key`.
 * @throws FatalError when the key is empty: anyone could then test guesses against a fingerprint.
 */
export function createRedactor(key: string | Uint8Array): Redactor {
  if (key.length === 0) {
    throw new FatalError('the redaction key is empty; set REDACTION_KEY or the secret behind REDACTION_SECRET_ID', {
      code: 'configuration',
    })
  }
  const automata = new WeakMap<readonly string[], PathState>()
  const fingerprint: Fingerprint = (secret) =>
    redacted.test(secret) ? secret : `${prefix}${createHmac('sha256', key).update(secret).digest('hex').slice(0, 16)}`
  return {
    redact(record, { secretPaths, dataMaps }) {
      const state = automata.get(secretPaths) ?? compilePaths(secretPaths)
      automata.set(secretPaths, state)
      return redactValue(record, { state, cover: nothing, fingerprint, dataMaps })
    },
  }
}

type Fingerprint = (secret: string) => string
const prefix = 'redacted:hmac-sha256:'
const redacted = /^redacted:hmac-sha256:[0-9a-f]{16}$/

/** Which scalars are secret at a place: none, strings alone (where numbers are counts of tokens), or numbers, too. */
type Cover = 0 | 1 | 2
const nothing: Cover = 0
const strings: Cover = 1
const scalars: Cover = 2

type Place = {
  state: PathState
  cover: Cover
  fingerprint: Fingerprint
  /** Set for the record itself. */
  dataMaps?: readonly string[] | undefined
  /** Set in a map whose keys are data: they say nothing about their values. */
  keysAreData?: boolean
}

function redactValue(value: Json, place: Place): Json {
  if (typeof value === 'string') {
    if (place.cover !== nothing) return place.fingerprint(value)
    return value.includes('://') || value.includes('?') ? redactUrls(value, place.fingerprint) : value
  }
  if (typeof value === 'number') return place.cover === scalars ? place.fingerprint(`${value}`) : value
  if (value === null || typeof value === 'boolean') return value
  if (Array.isArray(value)) return redactArray(value, place)
  if (isRawNumber(value)) return place.cover === scalars ? place.fingerprint(value.rawJSON) : value
  return redactObject(value, place)
}

function redactArray(values: Json[], place: Place): Json[] {
  let copy: Json[] | undefined
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as Json
    const clean = redactValue(value, place)
    if (clean === value) continue
    copy ??= values.slice()
    copy[i] = clean
  }
  return copy ?? values
}

function redactObject(object: { [key: string]: Json }, place: Place): Json {
  const { state, cover, fingerprint, dataMaps, keysAreData } = place
  let copy: { [key: string]: Json } | undefined
  for (const key in object) {
    const value = object[key] as Json
    if (value === null || typeof value === 'boolean') continue
    const below: PathState = state.next.get(key) ?? state.other
    const wider: Cover = below.secret ? scalars : keysAreData ? nothing : coverOf(key)
    // Most values are numbers and short strings of no secret: they need no call and no object.
    if (typeof value === 'number' && wider !== scalars && cover !== scalars) continue
    const clean = redactValue(value, {
      state: below,
      cover: wider > cover ? wider : cover,
      fingerprint,
      keysAreData: dataMaps?.includes(key) ?? false,
    })
    if (clean === value) continue
    copy ??= { ...object }
    // A key named __proto__ must stay a key.
    Object.defineProperty(copy, key, { value: clean, enumerable: true, configurable: true, writable: true })
  }
  return copy ?? object
}

const secretName =
  /apikey|secret|password|passwd|passphrase|authorization|bearer|credential|privatekey|accesskey|token|cookie|^keys$/
const tokenCount = /tokens$|tokenusage/

const decisions = new Map<string, Cover>()
const decisionsKept = 10_000

/** What a key's name says about the values below it. */
function coverOf(key: string): Cover {
  const known = decisions.get(key)
  if (known !== undefined) return known
  const name = key.toLowerCase().replace(/[^a-z0-9]/g, '')
  const cover = !secretName.test(name) ? nothing : tokenCount.test(name) ? strings : scalars
  // Keys can be data (a map by session id), so the memory is bounded.
  if (decisions.size < decisionsKept) decisions.set(key, cover)
  return cover
}

// Both patterns are linear in the length of the text: no part of a match can begin at many places.
const userInfo = /:\/\/([^\s/?#]+)@/g
const parameter = /[?&#;]([^=&#?;\s]{1,64})=([^&#\s"'<>]+)/g
const redactedUserInfo = /^redacted:hmac-sha256:[0-9a-f]{16}(:redacted:hmac-sha256:[0-9a-f]{16})?$/

function redactUrls(text: string, fingerprint: Fingerprint): string {
  const mask = (part: string) => fingerprint(decoded(part))
  return text
    .replace(userInfo, (whole, info: string, at: number) => {
      if (redactedUserInfo.test(info)) return whole
      const [user = '', ...password] = info.split(':')
      // ssh://git@host names an account; https://<token>@host is how git carries a token.
      if (password.length === 0) return /https?$/i.test(text.slice(0, at)) ? `://${mask(user)}@` : whole
      return `://${mask(user)}:${mask(password.join(':'))}@`
    })
    .replace(parameter, (whole, name: string, value: string) =>
      coverOf(decoded(name)) === nothing ? whole : `${whole.slice(0, -value.length)}${mask(value)}`,
    )
}

/** Percent escapes undone, so that a secret has the same fingerprint inside a URL and outside. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

import { createHmac } from 'node:crypto'
import { FatalError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { changeJsonIn } from './json-text.ts'
import { createPlan } from './plan.ts'
import { rulesVersion } from './rules-version.ts'
import { compilePaths } from './secret-paths.ts'
import { createTextRedactor } from './text.ts'
import { fingerprintOf, isRedacted } from './values.ts'
import { type Walk, type Way, walkThrough } from './walk.ts'

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
   * already replaced. Safe at any depth: what lies below 256 levels is left out.
   */
  redact(record: Json, rules: SecretRules): Json
  /** A text without its secrets, for what is no record: the message of an error's body, a line of a log. */
  redactText(text: string): string
  /**
   * A key for digests of what was not redacted yet: another one for each purpose, and after each change of the redaction
   * key or of what counts as a secret.
   */
  keyFor(purpose: string): Uint8Array
}

export { isRedacted }

const noMaps: readonly string[] = []

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
  const fingerprint = (secret: string) =>
    isRedacted(secret) ? secret : fingerprintOf(createHmac('sha256', key).update(secret).digest('hex').slice(0, 16))
  const redactText = createTextRedactor(fingerprint, (text) =>
    changeJsonIn(text, (value) => walkThrough(value, inTexts)),
  )
  const walk: Walk = { fingerprint, redactText, level: 0 }
  const inTexts: Way = { walk, plan: createPlan(compilePaths([]), noMaps, redactText) }
  const ways = new WeakMap<readonly string[], WeakMap<readonly string[], Way>>()
  const wayFor = (secretPaths: readonly string[], dataMaps: readonly string[]): Way => {
    const byMaps = ways.get(secretPaths) ?? new WeakMap<readonly string[], Way>()
    const way = { walk, plan: createPlan(compilePaths(secretPaths), dataMaps, redactText) }
    ways.set(secretPaths, byMaps.set(dataMaps, way))
    return way
  }
  return {
    redactText,
    keyFor: (purpose) => createHmac('sha256', key).update(`${rulesVersion} ${purpose}`).digest(),
    redact: (record, { secretPaths, dataMaps = noMaps }) =>
      walkThrough(record, ways.get(secretPaths)?.get(dataMaps) ?? wayFor(secretPaths, dataMaps)),
  }
}

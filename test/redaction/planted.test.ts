import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import type { Json } from '../../lib/core/json.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { plantedForms, tokenForms, tokenLines } from './planted-forms.ts'

const { redact } = createRedactor('a key of the tests')
const rules = { secretPaths: [] }

/** A secret of letters and digits, as generators of passwords and tokens make them. */
const secrets = fc
  .tuple(
    fc.constantFrom(
      '0123456789abcdef',
      '0123456789abcdefghijklmnopqrstuvwxyz',
      '0123456789ABCDEFGHIJKLMNabcdefghijklmn',
    ),
    fc.integer({ min: 8, max: 40 }),
    fc.infiniteStream(fc.nat()),
  )
  .map(([alphabet, length, numbers]) => {
    const letters = Array.from({ length }, () => alphabet.at(numbers.next().value % alphabet.length)).join('')
    return `q${letters.slice(0, -3)}7z${letters.slice(-3)}`
  })

type Place = { place: string; put(value: Json): Json }

/** Where what was written lies in a record. */
const places = fc.constantFrom<Place>(
  { place: 'as it is', put: (value) => value },
  { place: 'in settings', put: (value) => ({ settings: { sandbox: { note: value } }, revision: 1 }) },
  { place: 'in a list', put: (value) => ({ items: [1, 'a', value, null] }) },
  { place: 'in a list of lists', put: (value) => [[[value]]] },
  { place: 'in JSON', put: (value) => ({ body: JSON.stringify({ inner: value, n: 1 }) }) },
  { place: 'in indented JSON', put: (value) => ({ body: JSON.stringify([value], null, 2) }) },
  { place: 'in JSON in JSON', put: (value) => JSON.stringify({ a: JSON.stringify({ b: value }) }) },
  { place: 'in a log', put: (value) => inText(value, (text) => `12:00 started\n${text}\n12:01 done, 5 tokens`) },
  { place: 'deep', put: (value) => nested(value, 150) },
)

function inText(value: Json, write: (text: string) => string): Json {
  return write(typeof value === 'string' ? value : JSON.stringify(value))
}

function nested(value: Json, levels: number): Json {
  let outer = value
  for (let level = 0; level < levels; level++) outer = level % 3 === 0 ? [outer] : { a: outer }
  return outer
}

/** Fails when a record still tells a secret, or a part of it that one could go on from. */
function expectGone(record: Json, secret: string) {
  const clean = redact(record, rules)
  const text = canonicalJson(clean)
  const part = 8
  for (let at = 0; at + part <= secret.length; at++) {
    if (text.includes(secret.slice(at, at + part))) expect.fail(`${canonicalJson(record)}\nbecame\n${text}`)
  }
  expect(redact(clean, rules)).toBe(clean)
}

describe('planted secrets', () => {
  it('come in at least 150 forms (SEC-02)', () => {
    expect(new Set([...plantedForms, ...tokenForms].map(({ form }) => form)).size).toBeGreaterThan(200)
  })

  it.each(plantedForms)('are found: $form', ({ plant }) => {
    fc.assert(
      fc.property(secrets, places, (secret, { put }) => expectGone(put(plant(secret)), secret)),
      { numRuns: 25 },
    )
  })

  it.each(tokenForms)('are found by their form alone: $form', ({ make }) => {
    const made = fc.infiniteStream(fc.nat()).map((numbers) => {
      const secret = make((alphabet, length) =>
        Array.from({ length }, () => alphabet.at(numbers.next().value % alphabet.length)).join(''),
      )
      return secret
    })
    fc.assert(
      fc.property(made, places, fc.constantFrom(...tokenLines), (secret, { put }, line) =>
        expectGone(put(line.replace('%', () => secret)), partOf(secret)),
      ),
      { numRuns: 25 },
    )
  })
})

/** What of a token is secret: a header or a marker that all tokens of a kind share tells nothing. */
function partOf(token: string): string {
  return token
    .replace(/-----[A-Z ]+-----/g, '')
    .replace(/^eyJ[\w-]+\.eyJ/, '')
    .trim()
    .split('\n')
    .at(0) as string
}

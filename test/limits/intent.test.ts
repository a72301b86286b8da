import { describe, expect, it } from 'vitest'
import { identityOf, readEmail } from '../../lib/limits/email.ts'
import { defaultRules, faultOfLimit } from '../../lib/limits/entries.ts'
import { duplicateKeyOf, orderOf, parseIntent } from '../../lib/limits/intent.ts'
import { intent } from './fixture.ts'

function text(fields: Record<string, unknown> = {}) {
  return JSON.stringify({ ...intent({ 'a@x.io': 5 }), ...fields })
}

describe('the message of an intent', () => {
  it('takes the time of the request in any offset, and keeps it in UTC with milliseconds', () => {
    expect(parseIntent(text({ requestedAt: '2026-05-06T12:00:00+02:00' })).requestedAt).toBe('2026-05-06T10:00:00.000Z')
  })

  it('takes a message without a version for the first version, and no later one', () => {
    expect(parseIntent(text({ version: undefined })).version).toBe(1)
    expect(() => parseIntent(text({ version: 2 }))).toThrow(/version/)
  })

  it.each([
    ['no entries', { limits: [] }],
    ['more than 100 entries', { limits: Array(101).fill({ email: 'a@x.io', limit: 1 }) }],
    ['no request id', { requestId: '' }],
    ['a time without a zone', { requestedAt: '2026-05-06T12:00:00' }],
    ['no one who asked', { requestedBy: undefined }],
  ])('refuses %s', (_what, fields) => {
    expect(() => parseIntent(text(fields))).toThrow(/breaks the schema/)
  })

  it('sorts by the time of the request, then by its id', () => {
    const order = (requestedAt: string, requestId: string) => orderOf({ requestedAt, requestId })
    const first = order('2026-05-06T10:00:00.000Z', 'z')
    expect(first < order('2026-05-06T10:00:00.001Z', 'a')).toBe(true)
    expect(order('2026-05-06T10:00:00.000Z', 'a') < first).toBe(true)
  })
})

describe('a key that stands twice (JSON-03)', () => {
  it.each([
    ['{"email":"a@x.io","limit":5,"limit":500}', 'limit'],
    ['{"a":[{"b":1},{"b":1,"b":2}]}', 'b'],
    ['{"limit":1,"lim\\u0069t":2}', 'limit'],
    ['{"a":{"x":1},"b":2,"a":{}}', 'a'],
  ])('is found in %s', (json, key) => {
    expect(duplicateKeyOf(json)).toBe(key)
  })

  it.each(['{"a":{"b":1},"c":{"b":2}}', '[{"a":"a"},{"a":"{\\"a\\":1,\\"a\\":2}"}]', '{"a":"b:","b":"a"}', '{}', '5'])(
    'is not seen in %s',
    (json) => {
      expect(duplicateKeyOf(json)).toBeNull()
    },
  )

  it('makes the message unreadable', () => {
    expect(() => parseIntent(text().replace('"limit":5', '"limit":5,"limit":500'))).toThrow(/"limit" stands twice/)
  })
})

describe('an e-mail address (PROV-01)', () => {
  it('is one person in any case and either Unicode form, and another with a plus tag', () => {
    expect(identityOf(' Ana@X.io ')).toBe(identityOf('ana@x.io'))
    expect(identityOf('j\u00fcrgen@x.io')).toBe(identityOf('ju\u0308rgen@x.io'))
    expect(identityOf('ana+ci@x.io')).not.toBe(identityOf('ana@x.io'))
  })

  it('keeps the spelling that is sent', () => {
    expect(readEmail(' Ana@X.io ')).toEqual({ identity: 'ana@x.io', address: 'Ana@X.io' })
  })

  it.each(['', ' ', 'ana', 'a@b@c', 'a na@x.io', '@x.io', 'ana@', 'a\u200bna@x.io', 'a\ud83d@x.io', null, 5])(
    'is none in %j',
    (value) => {
      expect(readEmail(value)).toHaveProperty('reason')
    },
  )

  it('is none when it is longer than an item of the ledger may hold', () => {
    expect(readEmail(`${'é'.repeat(130)}@x.io`)).toHaveProperty('reason')
    expect(readEmail(`${'e'.repeat(240)}@x.io`)).toHaveProperty('identity')
  })
})

describe('a limit', () => {
  it.each([0, 1, Number.MAX_SAFE_INTEGER])('may be %d', (value) => {
    expect(faultOfLimit(value, defaultRules)).toBeNull()
  })

  it.each([null, undefined, '', '5', -1, -0, 1.5, 2 ** 53, Number.NaN, true, [5], {}])('may not be %j', (value) => {
    expect(faultOfLimit(value, defaultRules)).not.toBeNull()
  })

  it('may not be above the maximum', () => {
    expect(faultOfLimit(1000, { maxLimit: 1000 })).toBeNull()
    expect(faultOfLimit(1001, { maxLimit: 1000 })).toContain('1000')
  })
})

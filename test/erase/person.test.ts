import { describe, expect, it } from 'vitest'
import { createFinder, type Person } from '../../lib/erase/person.ts'

const ann: Person = {
  addresses: ['ann+x@ex.org', 'jürgen@ex.org'],
  ids: ['user_01'],
  names: ['Ann Lee'],
  nameParts: ['Ann', 'Lee'],
  others: [],
  fingerprints: ['hashed:hmac-sha256:0123456789abcdef:12'],
}
const finder = createFinder(ann)

describe('a person in texts', () => {
  it.each([
    'ann+x@ex.org',
    'Mail ANN+X@EX.ORG.',
    '_ann+x@ex.org_',
    '<ann+x@ex.org>',
    '{"text":"hi\\nann+x@ex.org"}',
    'mailto:ann%2bx%40ex.org?subject=%20',
    '"j\\u00fcrgen@ex.org"',
    '"{\\"a\\":\\"j\\\\u00fcrgen@ex.org\\"}"',
    'j%C3%BCrgen@ex.org',
    'ju\u0308rgen@ex.org',
    'organization_users#user_01',
    'by Ann  Lee, today',
    'hashed:hmac-sha256:0123456789abcdef:12',
  ])('is found, and taken out: %s', (text) => {
    expect(finder.isIn(text)).toBe(true)
    expect(finder.isIn(finder.without(text))).toBe(false)
    expect(finder.without(text)).toContain('erased')
  })

  it.each([
    'joann+x@ex.org',
    'jo.ann+x@ex.org',
    'ann+x@ex.organ',
    'ann+x@ex.org.au',
    'user_012',
    'Ann',
    'Joann Lee',
    'Ann Leeds',
  ])('is somebody else: %s', (text) => {
    expect(finder.isIn(text)).toBe(false)
  })

  it('takes their parts of a name along where these are a whole value, and leaves valid JSON', () => {
    const text = '{"firstName":"Ann","note":"Ann and Ann Leeds","email":"ann+x@ex.org","n":1.50}'
    expect(finder.without(text)).toBe('{"firstName":"erased","note":"Ann and Ann Leeds","email":"erased","n":1.50}')
    expect(finder.without('Ann')).toBe('erased')
  })

  it('is the whole of a text, or not', () => {
    expect(finder.is(' JÜRGEN@ex.org')).toBe(true)
    expect(finder.is('to jürgen@ex.org')).toBe(false)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, isPlainObject } from '../../lib/core/canonical-json.ts'
import { contentHash, sha256, sha256Bytes } from '../../lib/core/hash.ts'
import { type Json, parseJson } from '../../lib/core/json.ts'

describe('canonical JSON', () => {
  it('is what RFC 8785 shows for its sample (section 3.2.2)', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`
    expect(canonicalJson(JSON.parse(sample) as Json)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it('sorts keys by UTF-16 code units (section 3.2.3)', () => {
    const sample = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
      "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
    const values = Object.values(JSON.parse(canonicalJson(JSON.parse(sample) as Json)) as object)
    const texts = [...canonicalJson(JSON.parse(sample) as Json).matchAll(/:"([^"]*)"/g)].map(([, text]) => text)
    expect(values).toHaveLength(7)
    expect(texts).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ])
  })

  it.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [1e23, '1e+23'],
    [333333333.33333325, '333333333.33333325'],
  ])('writes %d as %s (appendix B)', (number, text) => {
    expect(canonicalJson(number)).toBe(text)
  })

  it('gives one hash to one record, in whatever order its keys come (DEL-04)', () => {
    const one = { 'a\u200d': 1, a: 2, nested: { y: 1, x: 2 } }
    const other = { nested: { x: 2, y: 1 }, a: 2, 'a\u200d': 1 }
    expect(contentHash(one)).toBe(contentHash(other))
    expect(contentHash({ a: 1, 'a\u200d': 2 })).not.toBe(contentHash({ a: 2, 'a\u200d': 1 }))
  })

  it('tells null from missing (DEL-04)', () => {
    expect(contentHash({ x: null })).not.toBe(contentHash({}))
  })

  it.each([
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['a set', new Set([1])],
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a function', () => 1],
    ['a bigint', 1n],
  ])('refuses %s, at any depth (DEL-04)', (_what, value) => {
    expect(() => canonicalJson(value as unknown as Json)).toThrow(TypeError)
    expect(() => canonicalJson({ deep: [{ value: value as unknown as Json }] })).toThrow(TypeError)
  })

  it('tells numbers apart that a double does not (JSON-01)', () => {
    const hashOf = (text: string) => contentHash(parseJson(text))
    expect(hashOf('{"n":9007199254740993}')).not.toBe(hashOf('{"n":9007199254740992}'))
    expect(canonicalJson(parseJson('{"n":9007199254740993}'))).toBe('{"n":9007199254740993}')
  })

  it('does not depend on the order of keys, and can be read back', () => {
    const shuffled = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (!isPlainObject(value)) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, shuffled(inner)]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value as Json)
        expect(canonicalJson(shuffled(value as Json))).toBe(text)
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text)
      }),
    )
  })
})

describe('hashes', () => {
  it('are those of SHA-256 (FIPS 180-4)', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256(Buffer.from('é'))).toBe(sha256('é'))
    expect(Buffer.from(sha256Bytes('abc')).toString('hex')).toBe(sha256('abc'))
    expect(contentHash({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'))
  })
})

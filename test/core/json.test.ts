import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { isRawNumber, type Json, lineJson, parseJson } from '../../lib/core/json.ts'

function digits(value: Json) {
  return isRawNumber(value) ? value.rawJSON : undefined
}

describe('parsing JSON', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890123',
    '0.12345678901234567891',
    '1e400',
    '1e-400',
  ])('keeps the digits of %s (JSON-01, JSON-08)', (text) => {
    const parsed = parseJson(`{"id":${text},"n":1}`) as { id: Json; n: Json }
    expect(digits(parsed.id)).toBe(text)
    expect(parsed.n).toBe(1)
    expect(JSON.stringify(parsed)).toBe(`{"id":${text},"n":1}`)
  })

  it.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 2 ** 53],
    ['1748411762359', 1748411762359],
    ['0.1', 0.1],
    ['0.30000000000000004', 0.1 + 0.2],
    ['1e21', 1e21],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['-0', -0],
    ['0e999', 0],
    ['100000000000000000000', 1e20],
  ])('reads %s as the number it is', (text, number) => {
    expect(parseJson(text)).toBe(number)
  })

  it('keeps digits wherever they stand, and whatever follows them', () => {
    for (let before = 0; before <= 40; before++) {
      for (const [number, after] of [
        ['9007199254740993', ''],
        ['1e400', ''],
        ['-1.5E+400', ' \n'],
      ]) {
        const text = `{"text":"${'x'.repeat(before)}","list":[${number}${after}]}`
        expect(digits((parseJson(text) as { list: Json[] }).list[0] as Json)).toBe(number)
      }
    }
  })

  it('leaves long digits inside of strings alone', () => {
    expect(parseJson('{"a":"9007199254740993"}')).toEqual({ a: '9007199254740993' })
  })

  it('refuses what is no JSON', () => {
    for (const text of ['', '{', "{'a':1}", 'NaN', 'undefined', '<h1>Back soon</h1>']) {
      expect(() => parseJson(text), text).toThrow(SyntaxError)
    }
  })

  it('never changes a number that it shows as a number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (integer) => {
        const parsed = parseJson(`[${integer}]`) as [Json]
        const shown = typeof parsed[0] === 'number' ? BigInt(parsed[0]).toString() : digits(parsed[0])
        expect(shown).toBe(integer.toString())
      }),
    )
  })

  it('reads all that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(parseJson(JSON.stringify(value)))).toBe(canonicalJson(JSON.parse(JSON.stringify(value))))
      }),
    )
  })
})

describe('deep JSON', () => {
  it('keeps digits at any depth, and takes no string for a number', () => {
    const levels = 20_000
    const inner =
      '{"n":12345678901234567890,"m":1.5,"s":"\\u000012345678901234567890","t":"12345678901234567890 \\" 1"}'
    let value = parseJson(`${'['.repeat(levels)}${inner}${']'.repeat(levels)}`)
    while (Array.isArray(value)) value = value[0]!
    expect(JSON.stringify(value)).toBe(inner)
  })

  it('is no JSON where it breaks off', () => {
    expect(() => parseJson(`${'['.repeat(20_000)}12345678901234567890`)).toThrow(SyntaxError)
  })

  it('is refused with its reason where it would have to be written canonically', () => {
    const value = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as Json
    expect(() => canonicalJson(value)).toThrow(/nested deeper than 1000 levels/)
  })
})

describe('JSON of one line', () => {
  it('has no character that ends a line for some reader, and is the same value (LINE-01)', () => {
    const value = { 'a\u2028b': 'c\u2029d\u0085e\nf' }
    const text = lineJson(value)
    expect(text).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(text)).toEqual(value)
  })
})

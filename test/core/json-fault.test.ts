import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonFaultOf } from '../../lib/core/json-fault.ts'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('the place where a text is no JSON', () => {
  it.each([
    ['{"a": NaN}', 6, 'NaN'],
    ['[1, -Infinity]', 4, '-Infinity'],
    ['{"a": None}', 6, 'None'],
    ['<h1>', 0, '"<"'],
    ['{"key": sk-live}', 8, 'a character that may not stand there'],
    ['{"a": "x', 8, 'a string that breaks off'],
    ['["a\nb"]', 3, 'a string that breaks off'],
    ['["\\x"]', 2, 'a string that breaks off'],
    ['{"a": [1, 2', 11, 'the end of the text'],
    ['', 0, 'the end of the text'],
    ['[1,]', 3, '"]"'],
    ['{} {}', 3, '"{"'],
    ['[01]', 2, 'a character that may not stand there'],
  ])('is found in %j', (text, at, found) => {
    expect(jsonFaultOf(text)).toEqual({ at, found })
  })

  it('is found exactly where JSON.parse refuses a text', () => {
    const pieces = fc.constantFrom(...'{}[]:,"\\ \n', '"a"', '1', '-', '0.5e3', 'true', 'null', 'NaN', '\\u00e9', 'x')
    const random = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
    const bent = fc
      .tuple(fc.json(), fc.nat(), pieces)
      .map(([text, at, piece]) => `${text.slice(0, at % text.length)}${piece}${text.slice(at % text.length)}`)
    fc.assert(
      fc.property(fc.oneof(random, bent, fc.json()), (text) => {
        expect(jsonFaultOf(text) === null).toBe(parses(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is found in long texts and deep ones', () => {
    expect(jsonFaultOf(`"${'\\n'.repeat(2_000_000)}"`)).toBeNull()
    expect(jsonFaultOf(`${'['.repeat(200_000)}NaN`)).toEqual({ at: 200_000, found: 'NaN' })
  })
})

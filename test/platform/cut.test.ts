import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { cutBody, type Recognizer, readRecord } from '../../lib/platform/cut.ts'

/** Knows what it has seen, by its very bytes. */
function memory() {
  const seen = new Map<string, number>()
  const recognizer: Recognizer = {
    digest: (bytes, start, end) => bytes.toString('latin1', start, end),
    find: (digest) => seen.get(digest) ?? -1,
  }
  return { recognizer, learn: (digest: string) => void seen.set(digest, seen.size) }
}

const stranger: Recognizer = { ...memory().recognizer, find: () => -1 }

/** The whole answer again, put together from its pieces; undefined when it was not cut. */
function rejoined(bytes: Buffer, recognizer: Recognizer): { [key: string]: Json } | undefined {
  const body = cutBody(bytes, 'items', recognizer)
  return body && { ...body.envelope, items: body.records.map(readRecord) }
}

function parsed(bytes: Buffer): Json | undefined {
  try {
    return parseJson(bytes.toString())
  } catch {
    return undefined
  }
}

const tricky = fc.constantFrom('},{"id":', '"', '\\', '\\"},{"id":1', ']', '[', '}', '{', 'é', '鍵', '\u2028', '😀', '')
const key = fc.constantFrom('id', 'items', 'a', 'pagination', '__proto__', 'b"]')
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      tricky,
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value
const record = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.oneof(tricky, fc.nat()), fc.dictionary(key, value)).map(([id, more]) => ({ id, ...more })),
  },
  { weight: 1, arbitrary: value },
)
/** An answer in one of the ways that servers write them. */
const answer = fc
  .record({
    items: fc.array(record, { maxLength: 8 }),
    before: fc.dictionary(key, value, { maxKeys: 2 }),
    after: fc.dictionary(key, value, { maxKeys: 2 }),
    indent: fc.constantFrom(undefined, 1, '\t', '\r\n '),
  })
  .map(({ items, before, after, indent }) => JSON.stringify({ ...before, items, ...after }, null, indent))

describe('an answer that is cut', () => {
  it('is the answer that is parsed, whatever stands in it, also where all of it is known', () => {
    fc.assert(
      fc.property(answer, (text) => {
        const bytes = Buffer.from(text)
        const { recognizer, learn } = memory()
        const whole = rejoined(bytes, recognizer)
        if (whole === undefined) return
        expect(whole).toEqual(parsed(bytes))
        for (const { digest } of cutBody(bytes, 'items', recognizer)?.records ?? []) learn(digest)
        expect(rejoined(bytes, recognizer)).toEqual(parsed(bytes))
        expect(cutBody(bytes, 'items', recognizer)?.records.every(({ json }) => json === undefined)).toBe(true)
      }),
    )
  })

  it('is no answer when it is not JSON, wherever a byte is lost, doubled or another', () => {
    const harm = fc.record({
      at: fc.nat(),
      what: fc.constantFrom('lost', 'doubled', 'other'),
      byte: fc.constantFrom(...'"\\{}[],: a0'),
    })
    fc.assert(
      fc.property(answer, fc.array(harm, { minLength: 1, maxLength: 2 }), (text, harms) => {
        let bytes = Buffer.from(text)
        const { recognizer, learn } = memory()
        for (const { digest } of cutBody(bytes, 'items', recognizer)?.records ?? []) learn(digest)
        for (const { at, what, byte } of harms) {
          const place = at % bytes.length
          const middle = what === 'lost' ? '' : what === 'doubled' ? bytes.subarray(place, place + 1) : byte
          bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from(middle), bytes.subarray(place + 1)])
        }
        for (const each of [stranger, recognizer]) {
          const whole = rejoined(bytes, each)
          if (whole !== undefined) expect(whole).toEqual(parsed(bytes))
        }
      }),
    )
  })

  it.each([
    ['as most servers write it', '{"items":[{"id":1},{"id":2}],"pagination":{"hasMore":false}}'],
    ['with space around everything', ' {\n "items" : [ { "id" : 1 } , {"id":2}\t] , "pagination" : {} }\n'],
    ['with an empty list', '{"items":[],"pagination":{}}'],
    ['with lists of the same kind inside', '{"items":[{"id":1,"parts":[{"id":1},{"id":2}]},{"id":2}]}'],
    ['with a list of the same kind after it', '{"items":[{"id":1}],"others":[{"id":3},{"id":4}]}'],
    [
      'with numbers that no double holds',
      '{"items":[{"id":12345678901234567890},{"id":1.0e400}],"count":12345678901234567890}',
    ],
  ])('is cut %s', (_how, text) => {
    expect(rejoined(Buffer.from(text), stranger)).toEqual(parseJson(text))
  })

  it.each([
    ['names the list twice', '{"items":[{"id":1}],"items":[]}'],
    ['names a member with an escape', '{"items":[{"id":1}],"item\\u0073":[]}'],
    ['has a record that is no object', '{"items":[{"id":1},2]}'],
    ['begins with a byte order mark', '\uFEFF{"items":[]}'],
    ['is a list', '[{"items":[]}]'],
    ['has no list of that name', '{"others":[{"id":1}]}'],
    ['has something else of that name', '{"items":{"id":1}}'],
    ['has the list deeper', '{"data":{"items":[{"id":1}]}}'],
    ['goes on after its end', '{"items":[{"id":1}]}{}'],
    ['breaks off', '{"items":[{"id":1},{"id"'],
  ])('is left to the parser when it %s', (_what, text) => {
    expect(cutBody(Buffer.from(text), 'items', stranger)).toBeUndefined()
  })

  it('is cut, not given up, in the form that the platform sends', () => {
    const items = Array.from({ length: 100 }, (_, id) => ({ id, title: '},{"id":', tags: [{ id: 1 }, { id: 2 }] }))
    const bytes = Buffer.from(JSON.stringify({ items, pagination: { hasMore: true, nextCursor: 'x' } }))
    expect(cutBody(bytes, 'items', stranger)?.records).toHaveLength(100)
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packKey, unpackKey } from '../../lib/sync/packed-key.ts'

const uuid = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8ff'

/** How many bytes a key takes, packed between two others, and its text as it is read there. */
function packed(key: string): { length: number; text: string } {
  const before = Buffer.from('before')
  const bytes = Buffer.concat([before, Buffer.from(key), Buffer.from('after')])
  const end = packKey(bytes, before.length, bytes.length - 'after'.length)
  expect(bytes.toString('utf8', 0, before.length)).toBe('before')
  return { length: end - before.length, text: unpackKey(bytes, before.length, end) }
}

it.each([
  [uuid, 17],
  [`${uuid}/${uuid}`, 35],
  [`${uuid}/msg_1`, 23],
  [`é/${uuid}`, 20],
  // What is no value of its own, or not in lower case, is kept as it is.
  [`${uuid}0`, 37],
  [`cmp_${uuid}`, 40],
  [uuid.toUpperCase(), 36],
  [uuid.replace('-', '0'), 36],
  [uuid.slice(1), 35],
  ['', 0],
])('packs the UUIDs among the values of %s', (key, length) => {
  expect(packed(key)).toEqual({ length, text: key })
})

it('gives every key back as it was', () => {
  const value = fc.oneof(
    fc.uuid(),
    fc.string({ unit: 'grapheme' }),
    fc.uuid().map((text) => text.slice(0, -1)),
    fc.uuid().map((text) => `${text}f`),
  )
  fc.assert(
    fc.property(fc.array(value), fc.constantFrom('/', '', '//'), (values, between) => {
      const key = values.join(between)
      expect(packed(key).text).toBe(key)
    }),
  )
})

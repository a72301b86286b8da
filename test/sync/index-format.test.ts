import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestBytes } from '../../lib/core/keyed-digest.ts'
import { decodeIndex, encodeIndex } from '../../lib/sync/index-format.ts'
import { hashBytes, type IndexEntry, type Kind } from '../../lib/sync/key-table.ts'

const header = {
  pass: 2,
  tokens: ['a1b2'],
  files: [],
  index: 'index-1',
  same: [[0, 12, 2] as [number, number, number]],
}
function entry(key: string, more: Partial<IndexEntry> = {}): IndexEntry {
  return {
    key,
    hash: new Uint8Array(hashBytes).fill(7),
    bytes: new Uint8Array(digestBytes).fill(8),
    changedAt: Date.UTC(2026, 0, 1),
    kind: 2,
    isOdd: false,
    pass: 1,
    ...more,
  }
}
function encode(entries: IndexEntry[]) {
  return encodeIndex(header, { count: entries.length, each: () => entries })
}
function decode(bytes: Uint8Array) {
  const { header: read, entries } = decodeIndex(bytes)
  return {
    header: read,
    entries: [...entries].map((each) => ({
      ...each,
      hash: Uint8Array.from(each.hash),
      bytes: Uint8Array.from(each.bytes),
    })),
  }
}

describe('an index object', () => {
  it('gives back what was put in, whatever the keys are', () => {
    const arbitrary = fc.record({
      key: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((key) => key.toWellFormed()),
      hash: fc.uint8Array({ minLength: hashBytes, maxLength: hashBytes }),
      bytes: fc.uint8Array({ minLength: digestBytes, maxLength: digestBytes }),
      changedAt: fc.oneof(fc.constant(Number.NaN), fc.integer({ min: 0 })),
      kind: fc.integer({ min: 0, max: 6 }) as fc.Arbitrary<Kind>,
      isOdd: fc.boolean(),
      pass: fc.integer({ min: 0, max: 255 }),
    })
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 30 }), (entries) => {
        expect(decode(encode(entries))).toEqual({ header, entries })
      }),
    )
  })

  it('holds keys of several bytes a character', () => {
    const keys = ['ключ', '鍵', '🔑🗝️', 'é'.repeat(700)]
    expect(decode(encode(keys.map((key) => entry(key)))).entries.map(({ key }) => key)).toEqual(keys)
  })

  it('may be empty', () => {
    expect(decode(encode([])).entries).toEqual([])
  })

  it('counts as damaged when it is cut off, wherever', () => {
    const bytes = encode([entry('one'), entry('two')])
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decode(bytes.subarray(0, length)), `${length} bytes`).toThrow(
        expect.objectContaining({ code: 'damaged_state' }),
      )
    }
  })

  it.each([
    ['another mark', (bytes: Uint8Array) => bytes.with(0, 66)],
    ['a header that is no JSON', (bytes: Uint8Array) => bytes.with(8, 33)],
    ['bytes after its end', (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from('more')])],
    ['a kind that does not exist', (bytes: Uint8Array) => bytes.with(bytes.length - 2, 99)],
    ['a key as long as the rest', (bytes: Uint8Array) => bytes.with(bytes.length - 49, 255)],
  ])('counts as damaged with %s', (_what, damage) => {
    expect(() => decode(damage(encode([entry('one'), entry('two')])))).toThrow(
      expect.objectContaining({ code: 'damaged_state' }),
    )
  })

  it('of the first form is read as it is, with no bytes known', () => {
    const first = Buffer.from(encode([entry('one')]))
    first.write('API1')
    const bytesAt = first.length - 10 - digestBytes
    const cut = Buffer.concat([first.subarray(0, bytesAt), first.subarray(bytesAt + digestBytes)])
    expect(decode(cut).entries).toEqual([entry('one', { bytes: new Uint8Array(digestBytes) })])
  })

  it('of a later version is refused with what to do, and does not count as damaged', () => {
    const later = Buffer.from(encode([entry('one')]))
    later.write('API3')
    expect(() => decode(later)).toThrow(
      expect.objectContaining({ code: 'configuration', message: expect.stringContaining('later version') }),
    )
  })
})

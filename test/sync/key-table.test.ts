import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Bytes } from '../../lib/core/hash.ts'
import { createKeyTable, entryAt, hashBytes, Kind } from '../../lib/sync/key-table.ts'

describe('the key table', () => {
  it('gives back what was put in, past the size it began with', () => {
    const table = createKeyTable()
    for (let n = 0; n < 3_000; n++) {
      const at = table.add(`key-${n}`)
      table.setHash(at, sha256Bytes(`${n}`))
      table.setChangedAt(at, n)
      table.mark(at, n % 2 ? Kind.updated : Kind.inserted, 1 + (n % 200))
    }
    expect(table.size).toBe(3_000)
    for (const n of [0, 1, 1_023, 1_024, 1_025, 2_048, 2_999]) {
      const at = table.find(`key-${n}`)
      expect(table.key(at)).toBe(`key-${n}`)
      expect(table.hasHash(at, sha256Bytes(`${n}`))).toBe(true)
      expect(table.hasHash(at, sha256Bytes(`${n + 1}`))).toBe(false)
      expect([table.changedAt(at), table.kind(at), table.pass(at)]).toEqual([
        n,
        n % 2 ? Kind.updated : Kind.inserted,
        1 + (n % 200),
      ])
      expect(entryAt(table, at)).toMatchObject({ key: `key-${n}`, changedAt: n, pass: 1 + (n % 200) })
      expect(Buffer.from(entryAt(table, at).hash)).toEqual(Buffer.from(sha256Bytes(`${n}`)).subarray(0, hashBytes))
    }
    expect(table.find('key-3000')).toBe(-1)
  })

  it('knows nothing of a key that was just added', () => {
    const table = createKeyTable()
    const at = table.add('new')
    expect([table.kind(at), table.pass(at), table.changedAt(at)]).toEqual([Kind.known, 0, Number.NaN])
    expect(table.hasHash(at, sha256Bytes(''))).toBe(false)
  })

  it('takes a cleared hash for no content', () => {
    const table = createKeyTable()
    const [at, next] = [table.add('one'), table.add('two')]
    for (const each of [at, next]) table.setHash(each, sha256Bytes('content'))
    table.clearHash(at)
    expect([at, next].map((each) => table.hasHash(each, sha256Bytes('content')))).toEqual([false, true])
  })

  it('tells keys apart, whatever they are made of', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 })), (keys) => {
        const table = createKeyTable()
        for (const key of ['__proto__', 'constructor', ...keys]) if (table.find(key) < 0) table.add(key)
        expect(table.size).toBe(new Set(['__proto__', 'constructor', ...keys]).size)
        for (const key of keys) expect(table.key(table.find(key))).toBe(key)
      }),
    )
  })

  it('finds each of many keys, long ones and non-ASCII ones too, and none that is not there', () => {
    const table = createKeyTable()
    const uuidOf = (n: number) => `0a1b2c3d-4e5f-6071-8293-${n.toString(16).padStart(12, '0')}`
    const keyOf = (n: number) => [uuidOf(n), `ключ-${n}`, `${n}`.repeat(300), `😀${n}`][n % 4] as string
    for (let n = 0; n < 20_000; n++) expect(table.add(keyOf(n))).toBe(n)
    for (let n = 0; n < 20_000; n++) {
      expect(table.find(keyOf(n))).toBe(n)
      expect(table.key(n)).toBe(keyOf(n))
      expect(table.find(`${keyOf(n)}x`)).toBe(-1)
    }
  })

  it('finds keys that came as bytes beside those that came as text, with more of them than it expected', () => {
    const table = createKeyTable(1_500)
    const keyOf = (n: number) => `${n % 3 ? 'ключ' : 'key'}-${n}`
    for (let n = 0; n < 2_000; n++) expect(table.addBytes(Buffer.from(keyOf(n)))).toBe(n)
    expect([table.find(keyOf(1_999)), table.find('key')]).toEqual([1_999, -1])
    for (let n = 2_000; n < 6_000; n++) expect(table.add(keyOf(n))).toBe(n)
    expect(table.addBytes(Buffer.from(keyOf(6_000)))).toBe(6_000)
    for (let n = 0; n <= 6_000; n++) expect([table.find(keyOf(n)), table.key(n)]).toEqual([n, keyOf(n)])
    expect(table.find(keyOf(6_001))).toBe(-1)
  })
})

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hashesOf, type Link, seal, unseal } from '../../../lib/audit/trail/sealed.ts'
import { parseJson } from '../../../lib/core/json.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'

const text = readFileSync(new URL('../../../docs/audit-format.md', import.meta.url), 'utf8')
const vectors = [...text.matchAll(/```json\n(.*)\n```/g)].map(([, line]) => Buffer.from(line as string))

describe('the documented format', () => {
  it('has test vectors whose hash follows from their bytes as described', () => {
    expect(vectors).toHaveLength(2)
    let previousHash = '0'.repeat(64)
    for (const bytes of vectors) {
      const hash = createHash('sha256').update('{').update(bytes.subarray(75)).digest('hex')
      expect(bytes.subarray(9, 73).toString()).toBe(hash)
      expect(JSON.parse(bytes.toString()).previousHash).toBe(previousHash)
      previousHash = hash
    }
  })

  it('is what is written', () => {
    for (const bytes of vectors) {
      const { hash, ...fields } = parseJson(bytes.toString()) as unknown as Link & { hash: string }
      expect(seal(fields)).toEqual({ hash, bytes })
      expect(unseal(bytes)?.hash).toBe(hash)
    }
  })

  it('has the fingerprint that is made', () => {
    const fingerprint = /redacted:hmac-sha256:[0-9a-f]{16}/.exec(text.slice(text.indexOf('under the key')))?.[0]
    expect(createRedactor('test key').redact({ secret: 's1' }, { secretPaths: [] })).toEqual({ secret: fingerprint })
  })

  it('lets no field stand before the hash', () => {
    const link: Link = { version: 1, sequence: 1, previousHash: '' }
    expect(() => seal({ ...link, alpha: 1 })).toThrow('alpha')
    expect(hashesOf(Buffer.from('{"hash":"x"}'))).toBe(null)
  })
})

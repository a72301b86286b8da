import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json.ts'
import { attachmentText } from '../../../lib/core/stand-ins.ts'
import { withoutAttachments } from '../../../lib/redaction/personal/attachments.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import { cpuMs } from '../../support/cpu.ts'

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(900)])
const base64 = png.toString('base64')
const wrapped = base64.replace(/.{76}/g, '$&\n')

function standIn(bytes: Buffer, mediaType: string) {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return attachmentText({ mediaType, bytes: bytes.length, sha256 })
}

describe('contents of images and files', () => {
  it.each<[string, Json]>([
    ['as §2.5 sends them', { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: base64 } }],
    ['with the type outside', { type: 'image', mediaType: 'image/png', source: { data: base64 } }],
    ['under a type that nobody declared', { type: 'hologram', parts: [[{ blob: base64 }]] }],
    ['under a name that says nothing', { type: 'x', whatever: base64 }],
    ['in lines', { type: 'x', output: wrapped }],
    ['in lines within a text', { type: 'tool_result', content: `$ base64 a.png\n${wrapped}\n$` }],
    ['in JSON within a text', { type: 'x', text: JSON.stringify({ a: [wrapped] }) }],
    ['in JSON with escaped slashes', { type: 'x', text: `{"a":"${base64.replaceAll('/', '\\/')}"}` }],
    ['in an address', { type: 'image_url', url: `data:image/png;base64,${base64}` }],
    ['in an address within a text', { type: 'text', text: `![a](data:image/png;base64,${base64}) shows it` }],
    ['as a list of bytes', { type: 'Buffer', data: [...png] }],
    ['in the alphabet of addresses', { type: 'x', data: png.toString('base64url') }],
  ])('are replaced by type, size and digest: %s', (_name, block) => {
    const text = JSON.stringify(withoutAttachments(block))
    expect(text).toContain(standIn(png, 'image/png'))
    expect(text.length).toBeLessThan(300)
  })

  it('are replaced however short they are where they are declared', () => {
    const file = { type: 'base64', mediaType: 'text/plain', data: 'eWVz', name: 'a.txt', parsedData: 'yes' }
    const stands = standIn(Buffer.from('yes'), 'text/plain')
    expect(withoutAttachments(file)).toEqual({ ...file, data: stands, parsedData: stands })
  })

  it('are named by their first bytes where nothing tells their type', () => {
    const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(90)])
    expect(withoutAttachments({ data: jpeg.toString('base64') })).toEqual({ data: standIn(jpeg, 'image/jpeg') })
  })

  it('leave what is no data: the same value comes back', () => {
    for (const value of [
      { type: 'text', text: 'Please fix it. '.repeat(200) },
      { type: 'text', text: `${'words in lines\n'.repeat(200)}` },
      { type: 'text', text: `commit ${'0123456789abcdef'.repeat(60)}` },
      { type: 'text', text: `/${'srv/projects/shop/'.repeat(60)}` },
      { type: 'thinking', signature: base64, encrypted_content: base64 },
      { type: 'x', data: 'a short text', size: 5, flag: true, nothing: null },
      { type: 'x', numbers: Array.from({ length: 500 }, (_, i) => i) },
      standIn(png, 'image/png'),
    ])
      expect(withoutAttachments(value)).toBe(value)
  })

  it('are replaced at any place, and nothing of them is left', () => {
    const shape = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.constant(base64), tie('list'), tie('object')),
      list: fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
      object: fc.dictionary(fc.string(), tie('value'), { minKeys: 1, maxKeys: 3 }),
    })).value as fc.Arbitrary<Json>
    fc.assert(
      fc.property(shape, (value) => {
        const before = JSON.stringify(value)
        // Signatures and what is encrypted stay, and are no attachments.
        fc.pre(!/signature|encrypted/i.test(before))
        const after = JSON.stringify(withoutAttachments(value))
        expect(after).not.toContain(base64.slice(40, 60))
        expect(JSON.stringify(value)).toBe(before)
        expect(JSON.stringify(withoutAttachments(JSON.parse(after)))).toBe(after)
      }),
      { numRuns: 50 },
    )
  })

  it('take time in proportion to their size', () => {
    const hostile = [`${'A1b'.repeat(16)}\n`.repeat(20_000), '\\n'.repeat(400_000), 'data:;'.repeat(150_000)]
    const looking = () => {
      for (const text of hostile) withoutAttachments({ type: 'text', text })
    }
    expect(cpuMs(looking)).toBeLessThan(6_000)
  })

  it('stay replaced when secrets are', () => {
    const { redact } = createRedactor('k'.repeat(32))
    const block = { type: 'image', data: standIn(png, 'image/png'), text: `see ${standIn(png, 'image/png')}` }
    expect(redact(block, { secretPaths: [] })).toBe(block)
  })
})

import { describe, expect, it } from 'vitest'
import { release } from '../../lib/core/buffer.ts'

describe('memory that is given back', () => {
  it('is empty from then on', () => {
    const bytes = Buffer.alloc(100_000, 1)
    release(bytes)
    expect(bytes.byteLength).toBe(0)
    expect(() => release(bytes)).not.toThrow()
  })

  it('is no memory that others have a part of', () => {
    const all = Buffer.from('a part, and more')
    const part = all.subarray(0, 6)
    release(part)
    const pooled = Buffer.from('pooled')
    release(pooled)
    expect([part, all, pooled].map(String)).toEqual(['a part', 'a part, and more', 'pooled'])
    const shared = new Uint8Array(new SharedArrayBuffer(8))
    release(shared)
    expect(shared.byteLength).toBe(8)
  })
})

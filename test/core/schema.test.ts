import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import * as z from 'zod'
import { once } from '../../lib/core/once.ts'
import { lazyObject, lazyStrictObject } from '../../lib/core/schema.ts'

describe('a value that is made once', () => {
  it('is made when it is first asked for, and is the same ever after', () => {
    const make = vi.fn(() => ({}))
    const made = once(make)
    expect(make).not.toHaveBeenCalled()
    expect(made()).toBe(made())
    expect(make).toHaveBeenCalledOnce()
  })
})

describe('an object schema whose fields are made on demand', () => {
  const fields = () => ({ id: z.string(), size: z.int().optional() })

  it.each([
    ['a lax one', lazyObject, z.object(fields())],
    ['a strict one', lazyStrictObject, z.strictObject(fields())],
  ])('%s makes none when it is declared, wrapped or described, and takes what zod takes', (_, lazily, plain) => {
    const make = vi.fn(fields)
    const schema = lazily(make)
    const wrapped = z.object({ list: z.array(schema.describe('What it is.')), one: schema.nullish() })
    expect(make).not.toHaveBeenCalled()
    for (const value of [{ id: 'a' }, { id: 'a', size: 2 }, { id: 'a', other: 1 }, { size: 2 }, { id: 1 }, null, 'a']) {
      const { success, data, error } = plain.safeParse(value)
      expect([schema.safeParse(value).success, schema.safeParse(value).data]).toEqual([success, data])
      expect(schema.safeParse(value).error?.issues).toEqual(error?.issues)
    }
    expect(wrapped.parse({ list: [{ id: 'a' }] })).toEqual({ list: [{ id: 'a' }] })
    expect(make).toHaveBeenCalledOnce()
    expect(z.toJSONSchema(schema)).toEqual(z.toJSONSchema(plain))
  })

  it('can be extended, and picked from', () => {
    const schema = lazyObject(fields)
    expect(schema.extend({ name: z.string() }).safeParse({ id: 'a' }).success).toBe(false)
    expect(schema.pick({ size: true }).parse({ id: 'a', size: 1 })).toEqual({ size: 1 })
    expect(Object.keys(schema.shape)).toEqual(['id', 'size'])
  })

  it('has the type of what it takes', () => {
    const schema = lazyObject(fields)
    expectTypeOf<z.infer<typeof schema>>().toEqualTypeOf<{ id: string; size?: number | undefined }>()
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const before = Error.prepareStackTrace
let installed: typeof before
beforeEach(async () => {
  // The file sets it when it is loaded, which is once.
  await import('../../functions/stacks.ts')
  installed ??= Error.prepareStackTrace
  Error.prepareStackTrace = installed
})
afterEach(() => {
  Error.prepareStackTrace = before
})

describe('the stack of an error', () => {
  it.each([
    ['can not say what it is', () => Object.assign(new Error('odd'), { toString: 'no function' }), 'Error: odd'],
    [
      'fails where it says what it is',
      () =>
        new (class extends Error {
          override toString = (): string => {
            throw this
          }
        })('odd'),
      'Error: odd',
    ],
    ['has a name that is no text', () => Object.assign(new Error('odd'), { name: Symbol('odd') }), 'Error'],
    [
      'is its own cause',
      () => {
        const error = new Error('odd')
        return Object.assign(error, { cause: error })
      },
      'Error: odd',
    ],
  ])('is told where the error %s', (_what, make, head) => {
    const [first, second] = (make().stack ?? '').split('\n')
    expect(first).toBe(head)
    expect(second).toMatch(/^ {4}at /)
  })

  it('is told of an object that is no error, with nothing of what it says of itself', () => {
    const object = { toString: () => 'a secret' }
    Error.captureStackTrace(object)
    expect((object as { stack?: string }).stack).toMatch(/^Error\n {4}at /)
  })

  it('tells the lines of a bundle whose map is cut off', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stacks-'))
    try {
      const bundle = join(folder, 'index.cjs')
      writeFileSync(bundle, "module.exports = () => new Error('odd')\n")
      writeFileSync(`${bundle}.map`, '{"version":3,')
      const make = createRequire(bundle)(bundle) as () => Error
      expect(make().stack).toContain(`${bundle}:1:`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { FatalError, messageOf, RejectedError, RetryableError, SyncError } from '../../lib/core/errors.ts'

describe('errors', () => {
  it.each([
    [RetryableError, 'retry', 'RetryableError'],
    [RejectedError, 'reject', 'RejectedError'],
    [FatalError, 'stop', 'FatalError'],
  ] as const)('say what to do', (Kind, action, name) => {
    const cause = new Error('socket')
    const error = new Kind('It failed.', { code: 'server_error', cause, retryAfterMs: 5, status: 503 })
    expect(error).toBeInstanceOf(SyncError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      action,
      name,
      message: 'It failed.',
      code: 'server_error',
      cause,
      retryAfterMs: 5,
      status: 503,
    })
    expect(error.stack).toContain('errors.test.ts')
  })

  it('keep their names in a bundle that shortens those of classes', async () => {
    const entryPoint = new URL('../../lib/core/errors.ts', import.meta.url).pathname
    const { outputFiles } = await build({
      entryPoints: [entryPoint],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    })
    const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
    const bundled = (await import(`data:text/javascript;base64,${code}`)) as { FatalError: typeof FatalError }
    expect(new bundled.FatalError('It failed.', { code: 'usage' }).name).toBe('FatalError')
  })

  it('have no cause unless there is one', () => {
    expect('cause' in new FatalError('It failed.', { code: 'usage' })).toBe(false)
  })

  it.each([
    [new Error('words'), 'words'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
    [7, '7'],
  ])('are texts, whatever was thrown', (thrown, text) => {
    expect(messageOf(thrown)).toBe(text)
  })
})

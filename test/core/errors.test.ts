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

import { describe, expect, it } from 'vitest'
import { clientOf, failure, sessionsList } from './fixture.ts'
import { type cut, json, stubServer, text } from './stub-server.ts'

describe('a refusal whose body can not be read', () => {
  const halting: typeof cut = (response) => void response.writeHead(401, { 'content-length': '100' }).write('{"mess')
  const breaking: typeof cut = (response) => {
    response.writeHead(503, { 'content-length': '100', 'retry-after': '600' }).write('{"mess', () => response.destroy())
  }
  const packed = { 'content-encoding': 'gzip' }

  it.each([
    [
      'that is not encoded as it says',
      text('busy', 429, { ...packed, 'retry-after': '600' }),
      { code: 'rate_limited', retryAfterMs: 600_000 },
    ],
    ['that breaks off', breaking, { code: 'rate_limited', retryAfterMs: 600_000 }],
    ['that stalls', halting, { code: 'unauthorized' }],
    [
      'of a page to log in',
      text('<html>', 302, { ...packed, location: 'https://login.test/' }),
      { code: 'redirected' },
    ],
  ])('is told by its status and its headers: one %s', async (_name, reply, told) => {
    const { url, seen } = await stubServer(reply)
    expect(await failure(clientOf(url, { timeoutMs: 400 }).get(sessionsList, {}))).toMatchObject(told)
    expect(seen).toHaveLength(1)
  })

  it('lets a POST be sent again that was refused for its rate', async () => {
    const limited = text('busy', 429, { ...packed, 'retry-after': '1' })
    const { url, seen } = await stubServer(limited, json({ messageId: 'm1', status: 'pending' }))
    await expect(clientOf(url).addMessage('s1', { text: 'hello' })).resolves.toMatchObject({ messageId: 'm1' })
    expect(seen).toHaveLength(2)
  })

  it('is no answer to a caller that aborts while it comes', async () => {
    const { url, seen } = await stubServer(halting)
    const abort = new AbortController()
    const call = failure(clientOf(url).get(sessionsList, {}, { signal: abort.signal }))
    await expect.poll(() => seen.length).toBe(1)
    abort.abort(new Error('enough'))
    expect((await call).message).toBe('enough')
  })
})

describe('a success whose body can not be read', () => {
  const breaking: typeof cut = (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"sessions":[', () => response.destroy())
  }

  it.each([
    ['breaks off', breaking],
    ['is not encoded as it says', text('{}', 200, { 'content-encoding': 'gzip' })],
  ])('is told as an answer, and no network or proxy is blamed, when it %s', async (_name, reply) => {
    const { url } = await stubServer(reply)
    const error = await failure(clientOf(url).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'RetryableError', code: 'unexpected_body', status: 200 })
    expect(error.message).toContain('the body broke off or is not encoded as it says')
  })
})

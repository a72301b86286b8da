import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { clientOf, failure, sessionsList } from './fixture.ts'
import { cut, json, stubServer, text } from './stub-server.ts'

const page = { sessions: [], pagination: { hasMore: false } }

describe('a success that brings no data', () => {
  it.each([
    ['an HTML page', text('<h1>Back soon</h1>', 200, { 'content-type': 'text/html' })],
    ['an error in JSON', json({ error: 'maintenance' })],
    ['an error object with a message beside it', json({ error: { code: 7 }, message: 'later' })],
    ['compressed bytes without a header', text(gzipSync('{"sessions":[]}'))],
    ['a body that is not compressed as it says', text('{}', 200, { 'content-encoding': 'gzip' })],
    ['half of a body', text('{"sessions":[')],
    ['no body', text('')],
    ['bytes that are no UTF-8 inside a string', text(Buffer.from([0x22, 0xff, 0x22]))],
  ])('is retried when it is %s (HTTP-07)', async (_name, reply) => {
    const { url, seen } = await stubServer(reply, json(page))
    await expect(clientOf(url).get(sessionsList, {})).resolves.toEqual(page)
    expect(seen).toHaveLength(2)
  })

  it('is an error with its type, its length and the place of the fault when it stays so (HTTP-07)', async () => {
    const { url } = await stubServer(text('<h1>Back soon</h1>', 200, { 'content-type': 'text/html; charset=utf-8' }))
    const error = await failure(clientOf(url).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'RetryableError', code: 'unexpected_body' })
    expect(error.message).toContain('text/html, 18 characters, no valid JSON at character 0, where "<" stands')
    expect(error.message).not.toContain('Back soon')
  })

  it.each([204, 202, 206])('is fatal with status %d, which the API does not use (HTTP-07)', async (status) => {
    const { url, seen } = await stubServer(text(status === 204 ? '' : '{"sessions":[]}', status))
    const error = await failure(clientOf(url).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'FatalError', code: 'unexpected_body', status })
    expect(seen).toHaveLength(1)
  })

  it.each([{ data: null }, null, [], 'text', 7, { sessions: null }])(
    'is never an empty list when it is %j (HTTP-07)',
    async (body) => {
      const { url } = await stubServer(json(body))
      const client = clientOf(url)
      const parsed = client.get(sessionsList, {}).then((answer) => sessions.reading.parse(answer))
      expect(await failure(parsed)).toMatchObject({ name: 'FatalError', code: 'unexpected_body' })
      expect(await failure(client.listSessions())).toMatchObject({ name: 'FatalError', code: 'unexpected_body' })
    },
  )

  it('is data when a field named error stands among those of a resource', async () => {
    const at = Date.UTC(2026, 4, 6)
    const session = { sessionId: 's1', status: 'idle', messageCount: 0, createdAt: at, updatedAt: at, error: 'kept' }
    const { url } = await stubServer(json(session))
    await expect(clientOf(url).getSession('s1')).resolves.toMatchObject({ error: 'kept' })
  })

  it('is refused when it is larger than 64 MB, without reading the rest', async () => {
    const chunk = Buffer.alloc(2 ** 20, ' ')
    const { url } = await stubServer((response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(chunk)) {}
      }
      response.on('drain', more)
      more()
    })
    const error = await failure(clientOf(url, { timeoutMs: 20_000 }).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'FatalError', code: 'too_large' })
    expect(error.message).toContain('64 MB')
  })
})

describe('an answer that is compressed (HTTP-16)', () => {
  it('is refused when it unpacks to more than 64 MB, however small it comes', async () => {
    const spaces = gzipSync(Buffer.alloc(300 * 2 ** 20, ' '))
    expect(spaces.length).toBeLessThan(2 ** 20)
    const { url, seen } = await stubServer(text(spaces, 200, { 'content-encoding': 'gzip' }))
    const error = await failure(clientOf(url, { timeoutMs: 20_000 }).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'FatalError', code: 'too_large' })
    expect(seen).toHaveLength(1)
  })

  it('is read where it is compressed twice, or begins with a byte order mark', async () => {
    const whole = Buffer.from(`\ufeff${JSON.stringify(page)}`)
    const { url } = await stubServer(text(gzipSync(gzipSync(whole)), 200, { 'content-encoding': 'gzip, gzip' }))
    await expect(clientOf(url).get(sessionsList, {})).resolves.toEqual(page)
  })
})

describe('an error that is about a body (AUD-07)', () => {
  const secret = 'sk-live-LEAK77'
  const settings = `{"changes":[{"revision":7,"settings":{"customModels":[{"apiKey":"${secret}"}]},"n":NaN}]}`

  it.each([
    ['a success that can not be parsed', text(settings)],
    ['a success whose secret is what can not be parsed', text(`{"apiKey": ${secret}}`)],
    ['an error status', text(settings, 500)],
    ['an error status that can be parsed', text(settings.replace('NaN', '1'), 500)],
    ['a refusal', json({ message: 'no', data: { apiKey: secret }, details: { apiKey: secret, list: [secret] } }, 403)],
    ['an error with status 200', json({ error: { code: 7, apiKey: secret } })],
    ['a partial list', json({ ...page, errors: [{ message: 'late', apiKey: secret }] })],
  ])('quotes nothing of it: %s', async (_name, reply) => {
    const { url } = await stubServer(reply)
    const error = await failure(clientOf(url).get(sessionsList, {}))
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('LEAK')
  })

  it('says where it is no JSON (JSON-12)', async () => {
    const { url } = await stubServer(text(settings))
    const error = await failure(clientOf(url).get(sessionsList, {}))
    expect(error.message).toContain(`no valid JSON at character ${settings.indexOf('NaN')}, where NaN stands`)
  })

  it('tells what the platform says of itself in words, redacted and short', async () => {
    const told = { code: 'E7', title: 'Refused', detail: `token ${secret} is no good`, errors: ['x'.repeat(500)] }
    const { url } = await stubServer(json(told, 422))
    const redactText = (words: string) => words.replaceAll(secret, 'redacted')
    const error = await failure(clientOf(url, { redactText }).get(sessionsList, {}))
    expect(error.message).toContain('The answer: Refused; token redacted is no good; E7')
    expect(error.message.length).toBeLessThan(500)
  })
})

describe('a certificate of an authority that is not known', () => {
  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])(
    'is told with where to name the authority: %s',
    async (code) => {
      const failing = () => Promise.reject(Object.assign(new Error('self-signed certificate'), { code }))
      const error = await failure(clientOf('https://platform.test', { fetch: failing }).get(sessionsList, {}))
      expect(error).toMatchObject({ name: 'RetryableError', code: 'unreachable' })
      expect(error.message).toContain('set NODE_EXTRA_CA_CERTS')
    },
  )
})

describe('numbers', () => {
  it('keep digits that a double loses (JSON-01)', async () => {
    const { url } = await stubServer(text('{"id":9007199254740993,"n":1}'))
    expect(canonicalJson(await clientOf(url).get(sessionsList, {}))).toBe('{"id":9007199254740993,"n":1}')
  })
})

describe('time', () => {
  it('runs out although the headers have come and bytes trickle (HTTP-05)', async () => {
    const timers: NodeJS.Timeout[] = []
    const { url } = await stubServer((response) => {
      response.writeHead(200).write('{"sessions"')
      timers.push(setInterval(() => response.write(' '), 20))
    })
    let requests = 0
    const client = clientOf(url, { timeoutMs: 100, retry: { maxAttempts: 2 } })
    const error = await failure(client.get(sessionsList, {}, { onRequest: () => requests++ }))
    timers.forEach(clearInterval)
    expect(error).toMatchObject({ name: 'RetryableError', code: 'timeout' })
    expect(requests).toBe(2)
  })

  it('runs out when the body stalls, and the next attempt may succeed (HTTP-05)', async () => {
    const { url } = await stubServer((response) => response.writeHead(200).write('{"sessions"'), json(page))
    await expect(clientOf(url, { timeoutMs: 400 }).get(sessionsList, {})).resolves.toEqual(page)
  })

  it('is not waited for longer than the deadline allows', async () => {
    const { url } = await stubServer(() => {})
    const deadline = { remainingMs: () => 60 }
    const error = await failure(clientOf(url, { timeoutMs: 20_000 }).get(sessionsList, {}, { deadline }))
    expect(error).toMatchObject({ code: 'timeout' })
  })

  it('of a body that is cut off midway is not lost: the request is repeated (HTTP-09)', async () => {
    const { url, seen } = await stubServer((response, seenRequest, request) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"sessions":[')
      setTimeout(() => cut(response, seenRequest, request), 20)
    }, json(page))
    await expect(clientOf(url).get(sessionsList, {})).resolves.toEqual(page)
    expect(seen).toHaveLength(2)
  })
})

describe('redirects', () => {
  it.each([301, 302, 307, 308])(
    'of status %d to another origin are fatal, and it never sees the key (HTTP-08)',
    async (status) => {
      const other = await stubServer(json(page))
      const { url, seen } = await stubServer(text('', status, { location: `${other.url}/x?k=key_live_ABC123` }))
      const error = await failure(clientOf(url).get(sessionsList, {}))
      expect(error).toMatchObject({ name: 'FatalError', code: 'redirected' })
      expect(error.message).toContain(other.url)
      expect(error.message).not.toContain('key_live_ABC123')
      expect(other.seen).toHaveLength(0)
      expect(seen).toHaveLength(1)
    },
  )

  it('of a GET within the origin are followed, three at most (HTTP-08)', async () => {
    const move = (to: string) => text('', 302, { location: to })
    const { url, seen } = await stubServer(move('/b?c=1'), move('c'), move('/d'), json(page), move('/again'))
    await expect(clientOf(url).get(sessionsList, { cursor: 'x' })).resolves.toEqual(page)
    expect(seen.map(({ path }) => path)).toEqual(['/api/v0/sessions', '/b', '/c', '/d'])
    expect(seen.every(({ headers }) => headers.get('authorization') === 'Bearer key_live_ABC123')).toBe(true)
    expect(await failure(clientOf(url).get(sessionsList, {}))).toMatchObject({ code: 'redirected' })
    expect(seen).toHaveLength(8)
  })

  it('of a write are never followed', async () => {
    const { url, seen } = await stubServer(text('', 307, { location: '/elsewhere' }))
    const call = clientOf(url).setUserCreditLimits([{ email: 'ada@example.com', limit: 1 }])
    expect(await failure(call)).toMatchObject({ code: 'redirected' })
    expect(seen).toHaveLength(1)
  })

  it('without an address are fatal', async () => {
    const { url } = await stubServer(text('', 302))
    expect(await failure(clientOf(url).get(sessionsList, {}))).toMatchObject({ code: 'redirected', status: 302 })
  })
})

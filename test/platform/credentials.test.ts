import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { LogFields } from '../../lib/core/log.ts'
import { silentLog } from '../../lib/core/log.ts'
import { excerpt, scrub } from '../../lib/platform/scrub.ts'
import { fixedCredentials } from '../../lib/platform/transport.ts'
import { clientOf, failure, sessionsList } from './fixture.ts'
import { json, stubServer } from './stub-server.ts'

const key = 'key_live_ABC123/+~&x'
const session = {
  sessionId: 's1',
  status: 'idle',
  messageCount: 0,
  createdAt: 1_760_000_000_000,
  updatedAt: 1_760_000_000_000,
}

/** Everything that a log or a dead letter could show of an error: message, stack, causes and own properties. */
function everything(error: unknown): string {
  const seen: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) {
    seen.push(at.message, at.stack ?? '', JSON.stringify(at, Object.getOwnPropertyNames(at)))
  }
  return [...seen, inspect(error, { depth: 10, showHidden: true })].join('\n')
}

/** Fails when a text holds the key in any form that could be turned back. */
function expectNoKey(shown: string) {
  const padded = [0, 1, 2].map((n) => Buffer.from('z'.repeat(n) + key).toString('base64'))
  for (const form of [key, encodeURIComponent(key), 'key_live', ...padded.map((base64) => base64.slice(4, 20))]) {
    expect(shown).not.toContain(form)
  }
}

describe('a credential that stopped working', () => {
  const rotating = () => {
    let [current, refreshes] = ['old', 0]
    return {
      refreshes: () => refreshes,
      current: async () => current,
      refresh: async () => {
        refreshes++
        current = 'new'
        return current
      },
    }
  }

  it('is read anew once on 401, and the request repeated with the new one (HTTP-11)', async () => {
    const credentials = rotating()
    const { url, seen } = await stubServer(json({}, 401), json({ ok: 1 }), json({ ok: 2 }))
    const client = clientOf(url, { credentials })
    await expect(client.get(sessionsList, {})).resolves.toEqual({ ok: 1 })
    await expect(client.get(sessionsList, {})).resolves.toEqual({ ok: 2 })
    expect(seen.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new', 'Bearer new'])
    expect(credentials.refreshes()).toBe(1)
  })

  it('is fatal when the new one is refused, too (HTTP-11)', async () => {
    const { url, seen } = await stubServer(json({}, 401))
    const error = await failure(clientOf(url, { credentials: rotating() }).get(sessionsList, {}))
    expect(error).toMatchObject({ name: 'FatalError', code: 'unauthorized', status: 401 })
    expect(seen).toHaveLength(2)
  })

  it('is not tried again when reading it anew brings the same', async () => {
    const { url, seen } = await stubServer(json({}, 401))
    expect(await failure(clientOf(url).get(sessionsList, {}))).toMatchObject({ code: 'unauthorized' })
    expect(seen).toHaveLength(1)
  })

  it('is renewed once per call, also when other failures lie between', async () => {
    const credentials = rotating()
    const { url, seen } = await stubServer(json({}, 401), json({}, 503), json({}, 401))
    expect(await failure(clientOf(url, { credentials }).get(sessionsList, {}))).toMatchObject({ code: 'unauthorized' })
    expect(credentials.refreshes()).toBe(1)
    expect(seen).toHaveLength(3)
  })

  it('repeats a POST, too: a refused one did nothing', async () => {
    const { url, seen } = await stubServer(json({}, 401), json(session, 201))
    await clientOf(url, { credentials: rotating() }).createSession({ computerId: 'c1' })
    expect(seen).toHaveLength(2)
  })
})

describe('a credential in errors and logs (HTTP-10)', () => {
  const base64 = [0, 1, 2].map((n) => Buffer.from(`${'z'.repeat(n)}${key}${'y'.repeat(n)}`).toString('base64'))
  it.each([
    ['as it is', key],
    ['after the word Bearer', `Bearer ${key}`],
    ['URL-encoded', `?k=${encodeURIComponent(key)}&x=1`],
    ['URL-encoded with small digits', encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase())],
    ['in base64', base64[0]],
    ['in base64, one byte in', base64[1]],
    ['in base64, two bytes in', base64[2]],
    ['in base64url', Buffer.from(key).toString('base64url')],
    ['across the end of the excerpt', `${'.'.repeat(190)}${key}`],
  ])('is masked when the platform echoes it %s', async (_name, echoed) => {
    const { url } = await stubServer(json({ message: `bad token: ${echoed} !` }, 403))
    const error = await failure(clientOf(url, { credentials: fixedCredentials(key) }).get(sessionsList, {}))
    expect(error).toMatchObject({ code: 'forbidden' })
    expect(error.message).toContain('bad token')
    expectNoKey(everything(error))
  })

  it('is not in the error of a network failure, nor in what was logged', async () => {
    const logged: [string, LogFields | undefined][] = []
    const log = { ...silentLog, info: (message: string, fields?: LogFields) => logged.push([message, fields]) }
    const failing = () => Promise.reject(new TypeError('fetch failed', { cause: new Error(`headers: Bearer ${key}`) }))
    const credentials = fixedCredentials(key)
    const client = clientOf('http://127.0.0.1:9', { credentials, log, fetch: failing })
    const error = await failure(client.get(sessionsList, {}))
    expect(error).toMatchObject({ code: 'unreachable' })
    expectNoKey(everything(error))
    expect(logged).toHaveLength(4)
    expectNoKey(JSON.stringify(logged))
  })

  it('is not in the error of a real refused connection', async () => {
    const { url, server } = await stubServer()
    await new Promise((resolve) => server.close(resolve))
    const error = await failure(clientOf(url, { credentials: fixedCredentials(key) }).get(sessionsList, {}))
    expect(error).toMatchObject({ code: 'unreachable', cause: { code: 'ECONNREFUSED' } })
    expectNoKey(everything(error))
  })

  it('is not in the error of a record that holds it and breaks its schema', async () => {
    const { url } = await stubServer(json({ ...session, status: 5, title: key }))
    const error = await failure(clientOf(url, { credentials: fixedCredentials(key) }).getSession('s1'))
    expect(error).toMatchObject({ name: 'FatalError', code: 'unexpected_body' })
    expect(error.message).toContain('status: ')
    expectNoKey(everything(error))
  })

  it.each(['', `${key}\n`, `${key} x`, `${key}é`])(
    'is not quoted when no header can carry it (%#)',
    async (unusable) => {
      const { url, seen } = await stubServer(json({}))
      const error = await failure(clientOf(url, { credentials: fixedCredentials(unusable) }).get(sessionsList, {}))
      expect(error).toMatchObject({ name: 'FatalError', code: 'configuration' })
      expectNoKey(everything(error))
      expect(seen).toHaveLength(0)
    },
  )

  it('masks any Bearer value, also one that we do not know', () => {
    expect(scrub('{"m":"Bearer abc.def-1","n":2}', [])).toBe('{"m":"Bearer [secret]","n":2}')
    expect(excerpt('a\n  b', ['short'])).toBe('a b')
  })
})

describe('the address of the platform', () => {
  it.each(['', 'example.com', 'ftp://example.com', `https://user:${key}@example.com`, 'https://example.com?x=1'])(
    'is refused before any request when it is unusable, and not quoted (%#)',
    (address) => {
      const error = (() => {
        try {
          return clientOf(address)
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).toMatchObject({ name: 'FatalError', code: 'configuration' })
      expectNoKey(everything(error))
    },
  )

  it.each(['/', '/?', '#', '/#', '//'])('may have a path, and "%s" at its end', async (end) => {
    const { url, seen } = await stubServer(json({}))
    await clientOf(`${url}/gateway${end}`).get(sessionsList, { limit: '1' })
    expect(seen).toMatchObject([{ path: '/gateway/api/v0/sessions', query: { limit: '1' } }])
  })
})

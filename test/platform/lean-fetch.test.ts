import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { type Fetch, leanFetch } from '../../lib/platform/lean-fetch.ts'
import { stubServer, text } from './stub-server.ts'

const sentence = JSON.stringify({ sessions: ['ä', 'b'.repeat(100_000)] })
const bytes = Buffer.from(sentence)
const bytesSent = bytes.byteLength

const init = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const

/** The same requests, their bodies asked for whole. */
const wholly: Fetch = async (url, asked) => {
  const { whole, ...answer } = await leanFetch(url, asked)
  const bytes = await whole?.(2 * bytesSent)
  return { ...answer, body: Readable.from(bytes ? [bytes] : []) }
}

/** What a request comes to: an answer, or what broke it. */
async function outcome(send: Fetch, url: string) {
  try {
    const { status, headers, body } = await send(new URL(url), { ...init, signal: new AbortController().signal })
    const chunks: Uint8Array[] = []
    for await (const chunk of body ?? []) chunks.push(chunk)
    const read = ['content-type', 'X-Twice', 'absent'].map((name) => headers.get(name))
    return { status, read, body: Buffer.concat(chunks).toString() }
  } catch {
    return 'broken'
  }
}

describe('a request over node:http', () => {
  it.each<[name: string, headers: Record<string, string>, body: Buffer]>([
    ['as it is', { 'content-type': 'application/json', 'x-twice': 'a, b' }, bytes],
    ['as gzip', { 'content-encoding': 'gzip' }, gzipSync(bytes)],
    ['as deflate', { 'content-encoding': 'deflate' }, deflateSync(bytes)],
    ['as two pieces of gzip', { 'content-encoding': 'gzip' }, Buffer.concat([gzipSync(bytes), gzipSync(' ')])],
    ['as gzip with more behind it', { 'content-encoding': 'gzip' }, Buffer.concat([gzipSync(bytes), Buffer.alloc(9)])],
    ['as br', { 'content-encoding': 'BR' }, brotliCompressSync(bytes)],
    ['encoded twice', { 'content-encoding': 'gzip, br' }, brotliCompressSync(gzipSync(bytes))],
    ['in an encoding that is not known', { 'content-encoding': 'own' }, bytes],
    ['in an encoding named as what objects have', { 'content-encoding': 'constructor' }, bytes],
    ['in no encoding, which it says', { 'content-encoding': 'identity' }, bytes],
    ['that is not encoded as it says', { 'content-encoding': 'gzip' }, bytes],
    ['that ends within its encoding', { 'content-encoding': 'gzip' }, gzipSync(bytes).subarray(0, 60)],
    ['that is shorter than it says', { 'content-length': '1000000' }, bytes],
    ['that redirects', { location: 'http://elsewhere.test/' }, Buffer.alloc(0)],
  ])('comes to what fetch comes to for an answer %s', async (_name, headers, body) => {
    const status = 'location' in headers ? 302 : 200
    const cutOff = (response: ServerResponse) => {
      response.writeHead(status, headers).write(body, () => response.destroy())
    }
    const server = await stubServer('content-length' in headers ? cutOff : text(body, status, headers))
    const expected = await outcome(fetch, server.url)
    expect(await outcome(leanFetch, server.url)).toEqual(expected)
    expect(await outcome(wholly, server.url)).toEqual(expected)
  })

  it.each(['gzip, identity', 'identity,gzip', ', gzip'])('reads a body whose encodings are "%s"', async (encodings) => {
    const { url } = await stubServer(text(gzipSync(bytes), 200, { 'content-encoding': encodings }))
    expect(await outcome(leanFetch, url)).toMatchObject({ body: sentence })
  })

  it('ends where nothing comes but the word that another protocol is spoken', async () => {
    const { url } = await stubServer((response) => {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    })
    expect(await outcome(leanFetch, url)).toBe('broken')
  })

  it('passes over what is said before the answer', async () => {
    const { url } = await stubServer((response, ...rest) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      text('{}')(response, ...rest)
    })
    expect(await outcome(leanFetch, url)).toMatchObject({ status: 200, body: '{}' })
  })

  it('asks for no deflate, which servers send in two forms', async () => {
    const { url, seen } = await stubServer(text('{}'))
    await outcome(leanFetch, url)
    expect(seen[0]?.headers.get('accept-encoding')).toBe('br, gzip')
  })

  it('ends with its signal: before it is sent, before it is answered, and within its body', async () => {
    const silent = await stubServer(() => {})
    const halting = await stubServer((response) => void response.writeHead(200).write('half'))
    await expect(leanFetch(new URL(silent.url), { ...init, signal: AbortSignal.abort() })).rejects.toThrow()
    expect(silent.seen).toEqual([])
    await expect(leanFetch(new URL(silent.url), { ...init, signal: AbortSignal.timeout(20) })).rejects.toThrow()
    const stop = new AbortController()
    const { body } = await leanFetch(new URL(halting.url), { ...init, signal: stop.signal })
    const read = async () => {
      for await (const _chunk of body ?? []) stop.abort()
    }
    await expect(read()).rejects.toThrow()
  })

  it('ends with its signal within a body that is asked for whole', async () => {
    const halting = await stubServer((response) => void response.writeHead(200).write('half'))
    const stop = new AbortController()
    const { whole } = await leanFetch(new URL(halting.url), { ...init, signal: stop.signal })
    const read = whole?.(bytesSent)
    stop.abort()
    await expect(read).rejects.toThrow('aborted')
  })

  it('leaves the rest of a body that is longer than is asked for', async () => {
    const { url } = await stubServer(text(bytes))
    const { whole } = await leanFetch(new URL(url), { ...init, signal: new AbortController().signal })
    expect(await whole?.(bytesSent - 1)).toBeNull()
    const again = await leanFetch(new URL(url), { ...init, signal: new AbortController().signal })
    expect(await again.whole?.(bytesSent)).toEqual(bytes)
  })

  it('says so when a body is asked for that has broken off meanwhile', async () => {
    const { url } = await stubServer((response) => {
      response.writeHead(200, { 'content-length': '9' }).write('half', () => response.destroy())
    })
    const { whole, body } = await leanFetch(new URL(url), { ...init, signal: new AbortController().signal })
    const stream = body as Readable
    stream.on('error', () => {})
    await vi.waitUntil(() => stream.closed)
    await expect(whole?.(bytesSent)).rejects.toThrow('aborted')
  })

  it('says so when there is no memory for a body', async () => {
    const { url } = await stubServer(text(bytes))
    const { whole } = await leanFetch(new URL(url), { ...init, signal: new AbortController().signal })
    vi.spyOn(Buffer, 'concat').mockImplementationOnce(() => {
      throw new RangeError('Array buffer allocation failed')
    })
    await expect(whole?.(bytesSent)).rejects.toThrow('allocation failed')
  })

  it.each([
    ['as it is', {}, bytes],
    ['as gzip', { 'content-encoding': 'gzip' }, gzipSync(bytes)],
    ['as br', { 'content-encoding': 'br' }, brotliCompressSync(bytes)],
  ])('gives the pieces of a body back that came %s', async (_name, headers: Record<string, string>, body) => {
    const { url } = await stubServer(text(body, 200, headers))
    const joined = vi.spyOn(Buffer, 'concat')
    const { whole } = await leanFetch(new URL(url), { ...init, signal: new AbortController().signal })
    expect(await whole?.(bytesSent)).toEqual(bytes)
    const pieces = joined.mock.lastCall?.[0] ?? []
    expect(pieces.length).toBeGreaterThan(1)
    // The last one may be a part of a piece.
    expect(pieces.slice(0, -1).map(({ byteLength }) => byteLength)).toEqual(pieces.slice(1).map(() => 0))
  })
})

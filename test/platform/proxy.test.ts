import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { json, stubServer } from './stub-server.ts'

const script = fileURLToPath(new URL('proxy-child.ts', import.meta.url))
const functionScript = fileURLToPath(new URL('proxy-child-function.ts', import.meta.url))

/** A proxy that refuses every tunnel, and keeps what it was asked for. */
async function stubProxy() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(502).end()
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** One request by a process that runs like the CLI: with --use-env-proxy and this environment alone. */
async function requestInChild(platform: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--use-env-proxy', script, platform], { env })
  return stdout.trim()
}

describe('a proxy in the environment (HTTP-12)', () => {
  it('is used for an https platform', async () => {
    const proxy = await stubProxy()
    const result = await requestInChild('https://platform.invalid', { HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost' })
    expect(proxy.asked).toEqual(['CONNECT platform.invalid:443'])
    expect(result).toBe('unreachable')
  })

  it('is left aside for a host in NO_PROXY', async () => {
    const proxy = await stubProxy()
    const platform = await stubServer(json({}))
    const result = await requestInChild(platform.url, { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' })
    expect(result).toBe('answered')
    expect(platform.seen).toHaveLength(1)
    expect(proxy.asked).toEqual([])
  })

  it('is used for the platform by functions, by what the stack sets, and never for AWS', async () => {
    const proxy = await stubProxy()
    const s3 = await stubServer(json({}))
    // As the stack sets it, and for http too: so it would reach a client of AWS that takes it.
    const env = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: 'localhost' }
    const args = [functionScript, 'https://platform.invalid', s3.url]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    expect(stdout).toBe('unreachable\nanswered\n')
    expect(proxy.asked).toEqual(['CONNECT platform.invalid:443'])
    expect(s3.seen).toHaveLength(1)
  })
})

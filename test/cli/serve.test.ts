import { request } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../lib/cli/program.ts'
import { systemClock } from '../../lib/core/clock.ts'
import { silentLog } from '../../lib/core/log.ts'
import { startPageServer } from '../../lib/local/page-server.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, soon, temporaryFolder } from './cli.ts'

const folder = temporaryFolder()
const local = join(folder.path, 'data')
const interruption = new AbortController()
let simulator: Simulator
let url: string
let served: Promise<void>
let code: number | null = null

/** Asks as a browser does, with any name for this machine. */
function ask(path: string, { method = 'GET', host = new URL(url).host } = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const asked = request({ hostname, port, path, method, headers: { host } }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asked.on('error', reject).end()
  })
}

function sync(stream = 'computers') {
  const { appUrl, baseUrl } = simulator
  const platform = { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl, PLATFORM_API_KEY: 'sim-key' }
  return cliHere(['sync', stream, '--local', local], platform)
}

beforeAll(async () => {
  simulator = await startSimulator({ counts: { computers: 3, revisions: 2 } })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let said = ''
  stdout.on('data', (text) => {
    said += text
  })
  const exit = (ended: number) => {
    code = ended
  }
  served = runCli(['serve', '--local', local, '--json'], {
    ...{ variables: {}, stdout, stderr, exit, fetch, useProxies: () => {} },
    ...{ clock: systemClock, interrupted: interruption.signal },
  })
  await soon(() => said.includes('}'))
  url = JSON.parse(said).url
})
afterAll(async () => {
  interruption.abort()
  await served
  await simulator?.close()
  folder.remove()
})

describe('serve', () => {
  it('shows an unused folder as one in which nothing was synced, and the pages of a run once there is one', async () => {
    expect((await ask('/')).text).toContain('Nothing was synced yet')
    expect((await sync()).code).toBe(0)
    const { status, text } = await ask('/?again')
    expect([status, text]).toEqual([200, expect.stringContaining('Yes. The one stream that is read is in.')])
    for (const path of ['/limits', '/audit']) expect((await ask(path)).status).toBe(404)
  })

  it('makes a page anew when the folder has a newer run, and not before', async () => {
    const written = (text: string) => text.match(/Written <time datetime="([^"]+)"/)?.[1]
    const first = written((await ask('/')).text)
    expect(written((await ask('/')).text)).toBe(first)
    expect((await sync()).code).toBe(0)
    expect(written((await ask('/')).text)).not.toBe(first)
  })

  it('shows the page for auditors once there are revisions of the settings, signed by the key of the folder', async () => {
    expect((await sync('enterprise_control_revisions')).code).toBe(0)
    const { status, text } = await ask('/audit')
    expect([status, text]).toEqual([
      200,
      expect.stringContaining('The evidence is complete and unaltered up to digest 1'),
    ])
    expect(text.match(/<tr id="entry-/g)).toHaveLength(2)
  })

  it('tells a browser to load nothing, keep nothing and frame nothing', async () => {
    const { headers, text } = await ask('/')
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(text).not.toContain('<script')
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })

  it.each(['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost'])(
    'answers nobody who calls this machine %j',
    async (host) => {
      expect(await ask('/', { host })).toMatchObject({ status: 421, text: expect.not.stringContaining('<') })
    },
  )

  it('takes localhost for this machine, reads nothing, and knows no other page', async () => {
    expect((await ask('/', { host: `localhost:${new URL(url).port}` })).status).toBe(200)
    expect((await ask('/', { method: 'POST' })).status).toBe(405)
    for (const path of ['/none', '/../package.json', '/constructor', '//']) expect((await ask(path)).status).toBe(404)
  })

  it('listens on the loopback interface alone, and says when a port is taken', async () => {
    expect(new URL(url).hostname).toBe('127.0.0.1')
    const taken = startPageServer({ port: Number(new URL(url).port), make: async () => null, log: silentLog })
    await expect(taken).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('another process') })
  })

  it('wants a folder', async () => {
    const { code, stderr } = await cliHere(['serve'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --local')])
  })

  it('ends well when it is interrupted, also while a browser keeps its connection', async () => {
    await ask('/')
    interruption.abort()
    await served
    expect(code).toBe(0)
    await expect(ask('/')).rejects.toThrow()
  })
})

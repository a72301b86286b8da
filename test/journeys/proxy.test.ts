import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { cliIn, ended, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

it('HTTP-12: reaches a platform through the proxy that the environment names', async () => {
  const proxy = createServer()
  const connected = new Promise<string>((resolve) => {
    proxy.on('connect', (request, socket) => {
      socket.on('error', () => {})
      resolve(request.url ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const child = cliIn(folder.path).start(['doctor', '--local', './data'], {
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    PLATFORM_APP_URL: 'https://platform.invalid',
    PLATFORM_BASE_URL: 'https://platform.invalid',
    PLATFORM_API_KEY: 'key',
  })
  const end = ended(child)
  expect(await connected).toBe('platform.invalid:443')
  child.kill('SIGKILL')
  await end
  proxy.close()
})

async function listening(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function elsewhere(proxy: string) {
  const platform = 'https://platform.invalid'
  return { HTTPS_PROXY: proxy, PLATFORM_APP_URL: platform, PLATFORM_BASE_URL: platform, PLATFORM_API_KEY: 'key' }
}

it('NET-01: a proxy variable that is malformed ends a command that needs it, with 2 and without the value', async () => {
  const { run } = cliIn(folder.path)
  const malformed = elsewhere('http://ana:pw99@127.0.0.1:99999')
  const { code, stdout, stderr } = await run(['sync', 'computers', '--local', './malformed'], malformed)
  expect(code).toBe(2)
  expect(stderr).toMatch(/^HTTPS_PROXY is no usable address of a proxy: .*Set it anew, or unset it\.\n$/)
  expect(stdout + stderr).not.toMatch(/pw99|at .*main\.ts/)
  expect(await run(['status', '--local', './malformed'], malformed)).toMatchObject({ code: 0 })
})

it('NET-01: a proxy that is dead, and one that wants a password, say so in words', async () => {
  const { run } = cliIn(folder.path)
  const proxy = createServer()
  proxy.on('connect', (_request, socket) => void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
  const alive = await listening(proxy, '127.0.0.1')
  const asked = await run(['sync', 'computers', '--local', './asked'], elsewhere(`ana:pw99@127.0.0.1:${alive}`))
  expect(asked.code).toBe(1)
  expect(asked.stdout).toContain('A proxy on the way wants a user and a password')
  const dead = await run(['doctor', '--local', './dead'], elsewhere('http://ana:pw99@127.0.0.1:1'))
  expect(dead.stdout).toContain('got no answer from the proxy on the way to the platform')
  expect(asked.stdout + asked.stderr + dead.stdout + dead.stderr).not.toMatch(/pw99|ana:/)
}, 60_000)

it('NET-02: asks a platform at [::1] without the proxy', async () => {
  const platform = createServer((_request, response) => void response.end('{"computers":[]}'))
  const url = `http://[::1]:${await listening(platform, '::1')}`
  const env = {
    PLATFORM_APP_URL: url,
    PLATFORM_BASE_URL: url,
    PLATFORM_API_KEY: 'key',
    HTTP_PROXY: 'http://127.0.0.1:1',
  }
  const { code } = await cliIn(folder.path).run(['sync', 'computers', '--local', './here'], env)
  expect(code).toBe(0)
})

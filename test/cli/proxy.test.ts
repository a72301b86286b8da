import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { cliIn, ended, temporaryFolder } from './cli.ts'

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

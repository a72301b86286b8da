import { describe, expect, it } from 'vitest'
import { proxiesIn } from '../../lib/cli/proxies.ts'
import { failure } from '../platform/fixture.ts'

const away = { PLATFORM_APP_URL: 'https://app.example.com', PLATFORM_BASE_URL: 'https://api.example.com' }

describe('the variables of proxies', () => {
  it.each([
    'http://ana:pw99@127.0.0.1:99999',
    'http://',
    'socks5://ana:pw99@127.0.0.1:1080',
    'ana:pw99@host:port',
    'http://ana:pw99@ho st',
  ])('are named without their value when it is %s (NET-01)', async (value) => {
    const error = await failure((async () => proxiesIn({ ...away, HTTPS_PROXY: value }))())
    expect(error).toMatchObject({ code: 'configuration' })
    expect(error.message).toMatch(/^HTTPS_PROXY is no usable address/)
    expect(`${error.stack}`).not.toMatch(/pw99|ana/)
  })

  it('are addresses of http when they have no scheme (NET-01)', () => {
    expect(proxiesIn({ ...away, http_proxy: ' ana:pw99@127.0.0.1:8598 ' })).toMatchObject({
      http_proxy: 'http://ana:pw99@127.0.0.1:8598/',
    })
  })

  it('are looked at for a platform elsewhere only (NET-01)', () => {
    const HTTP_PROXY = 'http://ana:pw99@127.0.0.1:99999'
    expect(proxiesIn({ HTTP_PROXY })).toBeNull()
    const here = 'http://localhost:1'
    expect(proxiesIn({ HTTP_PROXY, PLATFORM_APP_URL: here, PLATFORM_BASE_URL: here })).toBeNull()
    expect(proxiesIn({ ...away, HTTP_PROXY: ' ' })).toBeNull()
  })

  it('exempt hosts between commas, blanks or both', () => {
    const exempt = proxiesIn({ ...away, HTTPS_PROXY: 'http://127.0.0.1:8598', NO_PROXY: ' one two,three,  .four ' })
    expect(exempt?.NO_PROXY).toBe('one,two,three,.four,localhost,127.0.0.1,[::1]')
  })

  it.each([
    'http://[::1]:8596',
    'http://127.8.9.1',
    'http://LOCALHOST',
    'http://[::ffff:127.0.0.1]',
    'http://a.localhost',
  ])('are for no platform on this machine: %s (NET-02)', (url) => {
    const HTTP_PROXY = 'http://127.0.0.1:8598'
    expect(proxiesIn({ HTTP_PROXY, PLATFORM_APP_URL: url, PLATFORM_BASE_URL: url })).toBeNull()
    const both = proxiesIn({ HTTP_PROXY, ...away, PLATFORM_APP_URL: url, NO_PROXY: 'internal' })
    expect(both?.NO_PROXY?.split(',')).toEqual(expect.arrayContaining(['internal', new URL(url).hostname, '[::1]']))
  })
})

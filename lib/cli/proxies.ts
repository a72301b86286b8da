import { setGlobalProxyFromEnv } from 'node:http'
import type { Variables } from '../core/env.ts'
import { FatalError } from '../core/errors.ts'

const proxyNames = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'] as const

/**
 * Sends what this process asks of the platform through the proxies that the environment names.
 * @throws FatalError `configuration` that names a variable which is no address, without its value.
 */
export function useProxies(variables: Variables): void {
  const proxies = proxiesIn(variables)
  if (proxies) setGlobalProxyFromEnv(proxies)
}

/**
 * The proxies that the environment names for the platform; null when there is none, or when the platform is on this
 * machine, which is never behind a proxy.
 * @throws FatalError `configuration` that names a variable which is no address, without its value.
 */
export function proxiesIn(variables: Variables): Record<string, string> | null {
  const platform = [variables.PLATFORM_APP_URL, variables.PLATFORM_BASE_URL].flatMap((address) => hostIn(address) ?? [])
  const isAway = platform.some((host) => !isThisMachine(host))
  const named = proxyNames.filter((name) => variables[name]?.trim())
  if (!isAway || named.length === 0) return null
  const proxies = Object.fromEntries(named.map((name) => [name, addressIn(name, variables[name] as string)]))
  // Other programs take blanks between hosts, too.
  const given = (variables.NO_PROXY ?? variables.no_proxy ?? '').split(/[\s,]+/)
  const own = ['localhost', '127.0.0.1', '[::1]', ...platform.filter(isThisMachine)]
  const exempt = [...given, ...new Set(own)].filter((host) => host !== '').join(',')
  return { ...proxies, NO_PROXY: exempt, no_proxy: exempt }
}

function hostIn(address: string | undefined): string | undefined {
  return URL.parse(address ?? '')?.hostname
}

/** A host as the parser of addresses writes it: names in small letters, IPv4 in four decimals, IPv6 in brackets. */
function isThisMachine(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(host)
}

/** Most programs take a proxy without a scheme for one that speaks http. */
function addressIn(name: string, value: string): string {
  const text = value.trim()
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== '') return url.href
  throw new FatalError(
    `${name} is no usable address of a proxy: it must be http(s)://[user:password@]host[:port]. Set it anew, or unset it.`,
    { code: 'configuration' },
  )
}

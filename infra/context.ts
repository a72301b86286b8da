import type { ConfigInput } from './config.ts'

/** The configuration with the values of the command line (`cdk deploy -c appUrl=...`) put over those of config.ts. */
export function withContext(written: ConfigInput, lookUp: (key: string) => unknown): unknown {
  const given = (...keys: string[]) =>
    Object.fromEntries(keys.map((key) => [key, lookUp(key)]).filter(([, value]) => value !== undefined))
  return {
    ...written,
    ...given('name', 'alarmEmail', 'eventBus'),
    platform: { ...written.platform, ...given('appUrl', 'baseUrl', 'secretName') },
  }
}

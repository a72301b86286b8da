import { describe, expect, it } from 'vitest'
import { config as shipped } from '../../config.ts'
import { parseConfig } from '../../infra/config.ts'
import { withContext } from '../../infra/context.ts'
import { platform } from './platform.ts'

describe('the configuration', () => {
  it('needs nothing but the addresses of the platform and the name of the secret', () => {
    expect(parseConfig({ platform })).toMatchObject({
      name: 'platform-sync',
      schedules: { nightly: { expression: 'cron(0 2 * * ? *)', timeZone: 'UTC', alarmAfterHours: 26 } },
      retention: { quarantineDays: 90, auditMode: 'governance' },
      eventBus: 'default',
    })
  })

  it.each([
    [{}, 'platform is missing; give appUrl, baseUrl and secretName'],
    [{ platform: { ...platform, appUrl: undefined } }, 'platform.appUrl is missing; set it to the base address'],
    [{ platform: { ...platform, baseUrl: 'http://api.example.com' } }, 'platform.baseUrl is not an https address'],
    [{ platform: { ...platform, secretName: undefined } }, 'platform.secretName is missing; set it to the name'],
    [
      { platform: { ...platform, requestsPerSecond: 0 } },
      'platform.requestsPerSecond must be a number of requests a second',
    ],
    [{ platform, name: 'Acme' }, 'name must be 2 to 20 lower-case letters'],
    [{ platform, streams: ['invoices'] }, 'streams.0 names no stream: "invoices". The streams are: readiness_reports'],
    [{ platform, alarmEmail: 'ops' }, 'alarmEmail is no e-mail address'],
    [{ platform, retention: { logDays: 31 } }, 'retention.logDays is no term that CloudWatch knows'],
    [{ platform, limits: { maxLimit: -1 } }, 'limits.maxLimit Too small'],
    [{ platform, limits: { largest: 5 } }, 'Unrecognized key: "largest"'],
    [{ platform, watchRules: [{ id: 'Own!' }] }, 'watchRules.0.id '],
    [
      { platform, watchRules: Array(30).fill({ id: 'a', paths: ['b.c'], severity: 'info', why: 'x'.repeat(90) }) },
      'watchRules are more than the 2500 bytes of JSON',
    ],
    [{ platform, retension: {} }, 'Unrecognized key: "retension"'],
    [
      { platform, schedules: { nightly: { expression: '02:00', alarmAfterHours: 26 } } },
      'schedules.nightly.expression is no schedule; write cron(0 2 * * ? *) or rate(15 minutes)',
    ],
    [
      { platform, schedules: { nightly: { expression: 'rate(1 day)', timeZone: 'Mars', alarmAfterHours: 26 } } },
      'schedules.nightly.timeZone is no time zone',
    ],
    [
      { platform, schedules: { nightly: { expression: 'rate(1 day)', alarmAfterHours: 200 } } },
      'schedules.nightly.alarmAfterHours is more than the 168 hours',
    ],
  ])('names the wrong value of %j', (input, message) => {
    expect(() => parseConfig(input)).toThrow(message)
  })

  it('names every wrong value at once', () => {
    const problems = () => parseConfig({ name: '!', platform: { ...platform, appUrl: 'x' } })
    expect(problems).toThrow(/name must be/)
    expect(problems).toThrow(/platform\.appUrl is not/)
  })

  it('can be given on the command line, before what the file says', () => {
    const given: Record<string, string> = { ...platform, name: 'acme' }
    expect(parseConfig(withContext(shipped, (key) => given[key]))).toMatchObject({ name: 'acme', platform })
  })

  it('stops synth until the file names the platform', () => {
    expect(() => parseConfig(withContext(shipped, () => undefined))).toThrow(/platform\.appUrl is missing/)
  })

  it('leaves streams that are not enabled out of the schedules, and schedules without streams out altogether', () => {
    const { schedules } = parseConfig({ platform, streams: ['sessions', 'computers'] })
    expect(Object.keys(schedules)).toEqual(['nightly'])
    expect(schedules.nightly?.streams).toEqual(['sessions', 'computers'])
  })
})

import { describe, expect, it } from 'vitest'
import { config as shipped } from '../../config.ts'
import { parseConfig } from '../../infra/config.ts'
import { withContext } from '../../infra/context.ts'
import { checkPlace } from '../../infra/place.ts'
import { platform } from './platform.ts'

describe('the place of a deployment', () => {
  const place = { account: '123456789012', region: 'eu-central-1' }

  it('is any that the credentials are for, unless the configuration names one', () => {
    expect(() => checkPlace({}, place)).not.toThrow()
    expect(() => checkPlace(place, place)).not.toThrow()
  })

  it.each([
    [
      { ...place, account: '210987654321' },
      'is for account 123456789012, and the credentials are for 210987654321: use',
    ],
    [{ ...place, region: 'us-east-1' }, 'is for region eu-central-1, and the credentials are for us-east-1: use'],
    [{ account: place.account }, 'is for region eu-central-1, and the credentials are for none'],
  ])('stops with one sentence when the credentials are for %j', (found, message) => {
    expect(() => checkPlace(place, found)).toThrow(message)
  })

  it('is not looked at without credentials, which deploy nothing', () => {
    expect(() => checkPlace(place, { region: 'us-east-1' })).not.toThrow()
  })
})

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
    [{ platform, name: 'acme-audit' }, 'name ends in "-audit", as resources of an installation "acme" do'],
    [{ platform, name: 'acme-iceberg' }, 'name ends in "-iceberg"'],
    [{ platform, account: '1234' }, 'account is no account; write its 12 digits'],
    [{ platform, region: 'Frankfurt' }, 'region is no region'],
    [
      { platform, eventBus: 'arn:aws:events:eu-central-1:123456789012:event-bus/data' },
      'eventBus is no name of an event bus: write the name alone, not its ARN',
    ],
    [{ platform, secrets: { kmsKeyArn: 'alias/secrets' } }, 'secrets.kmsKeyArn is no ARN of a key'],
    [{ platform, reservedConcurrency: { 'sync-streams': 3 } }, 'reservedConcurrency Unrecognized key: "sync-streams"'],
    [
      { platform, reservedConcurrency: { 'sync-stream': 0 } },
      'reservedConcurrency.sync-stream keeps the function from running at all',
    ],
    [{ platform, network: { subnetIds: ['subnet-1'] } }, 'network.subnetIds.0 is no id of a subnet'],
    [{ platform, network: { subnetIds: ['subnet-0a1b2c3d'] } }, 'network has subnetIds or securityGroupIds alone'],
    [{ platform, network: { httpsProxy: 'proxy' } }, 'network.httpsProxy is no address of a proxy'],
    [
      { platform, network: { httpsProxy: 'http://ana:pw99@proxy.example.com' } },
      'network.httpsProxy names a user: it would stand in the template',
    ],
    [{ platform, streams: ['invoices'] }, 'streams.0 names no stream: "invoices". The streams are: readiness_reports'],
    [{ platform, alarmEmail: 'ops' }, 'alarmEmail is no e-mail address'],
    [{ platform, retention: { logDays: 31 } }, 'retention.logDays is no term that CloudWatch knows'],
    [{ platform, limits: { maxLimit: -1 } }, 'limits.maxLimit Too small'],
    [{ platform, limits: { largest: 5 } }, 'Unrecognized key: "largest"'],
    [{ platform, watchRules: [{ id: 'Own!' }] }, 'watchRules.0.id '],
    [{ platform, messages: { content: 'kept' } }, 'messages.content Invalid option'],
    [{ platform, messages: { roles: { human: 'full' } } }, 'messages.roles'],
    [{ platform, privacy: { users: { email: 'hash' } } }, 'privacy.users is no stream'],
    [{ platform, privacy: { organization_users: { mail: 'hash' } } }, 'mail is no field of the stream'],
    [
      { platform, privacy: { hook_events: { [`message.${'x'.repeat(3_000)}`]: 'drop' } } },
      'privacy.hook_events.message',
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

  it('leaves the password of a proxy out of what it says', () => {
    expect(() => parseConfig({ platform, network: { httpsProxy: 'http://ana:pw99@proxy.example.com' } })).not.toThrow(
      /pw99/,
    )
  })

  it.each(['platform-sync', 'acme', 'audit', 'acme-audits', 'a-lake'])('takes %s as a name', (name) => {
    expect(parseConfig({ platform, name }).name).toBe(name)
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

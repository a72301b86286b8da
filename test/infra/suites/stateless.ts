import { readFileSync } from 'node:fs'
import { Stack } from 'aws-cdk-lib'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { describe, expect, it } from 'vitest'
import { addInstallation } from '../../../infra/build.ts'
import { streams } from '../../../lib/streams/index.ts'
import { ScheduledRun } from '../../../lib/sync/scheduled-run.ts'
import { appFor, platform, resolved, synthesize, variablesOf } from '../synthesized.ts'

const { stateless, resources, findings } = synthesize({ alarmEmail: 'ops@example.com' })

describe('functions', () => {
  const functions = resources('AWS::Lambda::Function')

  it('run on Node.js 24 on arm64, traced, with memory and time for their work', () => {
    const settings = functions.map(([, { Properties: p }]) => {
      return [p.FunctionName, p.Runtime, p.Architectures, p.MemorySize, p.Timeout, p.TracingConfig]
    })
    const common = ['nodejs24.x', ['arm64']]
    expect(settings).toEqual([
      ['platform-sync-sync-stream', ...common, 1769, 900, { Mode: 'Active' }],
      ['platform-sync-publish-run', ...common, 1769, 900, { Mode: 'Active' }],
      ['platform-sync-write-report', ...common, 1769, 600, { Mode: 'Active' }],
      ['platform-sync-audit-digest', ...common, 1024, 900, { Mode: 'Active' }],
      ['platform-sync-apply-credit-limits', ...common, 512, 60, { Mode: 'Active' }],
      ['platform-sync-import-credit-limits', ...common, 1024, 120, { Mode: 'Active' }],
      ['platform-sync-apply-credit-policy', ...common, 512, 300, { Mode: 'Active' }],
    ])
  })

  it('leave half of their memory to what lies outside of the heap, as keys of streams do, and have it given back', () => {
    for (const [, { Properties: p }] of functions) {
      const options = `--max-semi-space-size=16 --max-old-space-size=${Math.floor(Number(p.MemorySize) / 2)}`
      expect(p.Environment).toMatchObject({
        Variables: { NODE_OPTIONS: options, MALLOC_MMAP_THRESHOLD_: '65536' },
      })
    }
  })

  it('CDK-04 write to log groups of their own that keep lines for as long as the configuration says', () => {
    for (const [, { Properties }] of functions) {
      expect(Object.keys(resources('AWS::Logs::LogGroup'))).toHaveLength(8)
      expect(Properties.LoggingConfig).toMatchObject({ LogGroup: { Ref: expect.stringMatching(/Logs/) } })
    }
    const terms = synthesize({ retention: { logDays: 30 } }).resources('AWS::Logs::LogGroup')
    expect(terms.map(([, { Properties }]) => Properties.RetentionInDays)).toEqual([30, 30, 30, 30, 30, 30, 30, 30])
    expect(resources('Custom::LogRetention')).toEqual([])
  })

  it('lose their logs with the stack, as the manual says, since a group that stayed would be in the way of the next one', () => {
    const groups = synthesize({ hooks: { enabled: true } }).resources('AWS::Logs::LogGroup')
    expect(groups.filter(([, { DeletionPolicy }]) => DeletionPolicy !== 'Delete')).toEqual([])
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(
      'The logs of functions and runs go with it: export them first if you need them.',
    )
  })

  it('get names and addresses, and never a secret', () => {
    const ofPlatform = { PLATFORM_APP_URL: 'https://app.example.com', PLATFORM_SECRET_ID: 'platform-sync/api-key' }
    const ofSync = {
      REDACTION_SECRET_ID: 'platform-sync/redaction-key',
      STATE_TABLE: 'platform-sync-state',
      CATALOG_DATABASE: 'platform_sync',
    }
    const ofReport = { STATE_TABLE: 'platform-sync-state', ICEBERG_DATABASE: 'platform_sync_iceberg' }
    const ofPolicy = { STATE_TABLE: 'platform-sync-state', LIMITS_TABLE: 'platform-sync-limits' }
    for (const [, { Properties }] of functions) {
      const { Variables } = Properties.Environment as { Variables: object }
      const isOfLimits = String(Properties.FunctionName).endsWith('-credit-limits')
      if (Properties.FunctionName === 'platform-sync-write-report') {
        expect(Variables).toMatchObject(ofReport)
        continue
      }
      const isOfPolicy = String(Properties.FunctionName).endsWith('-policy')
      expect(Variables).toMatchObject(isOfPolicy ? ofPolicy : isOfLimits ? ofPlatform : { ...ofPlatform, ...ofSync })
      expect(Object.keys(Variables).filter((name) => /^(PLATFORM_API|REDACTION)_KEY$/.test(name))).toEqual([])
    }
  })

  it('get what is to be kept about people where they store it', () => {
    const privacy = { organization_users: { email: 'hash' as const } }
    const messages = { content: 'hashed' as const, roles: { tool: 'redacted' as const } }
    const chosen = synthesize({ messages, privacy, hooks: { enabled: true } })
    for (const name of ['sync-stream', 'store-hook-events']) {
      expect(variablesOf(chosen, name)).toMatchObject({
        MESSAGES_CONTENT: 'hashed',
        MESSAGES_CONTENT_BY_ROLE: '{"tool":"redacted"}',
        MESSAGES_ATTACHMENTS: 'replaced',
        PRIVACY_FIELDS: JSON.stringify(privacy),
      })
    }
  })

  it('that ask the platform know the rate that the configuration sets for all of them, and where they share it', () => {
    const slow = synthesize({ platform: { ...platform, requestsPerSecond: 2.5 } })
    for (const name of ['sync-stream', 'apply-credit-limits']) {
      const shared = { STATE_TABLE: 'platform-sync-state' }
      expect(variablesOf(slow, name)).toMatchObject({ ...shared, PLATFORM_REQUESTS_PER_SECOND: '2.5' })
      expect(variablesOf(synthesize(), name)).not.toHaveProperty('PLATFORM_REQUESTS_PER_SECOND')
    }
  })
})

describe('schedules', () => {
  const scheduleNamed = (name: string) =>
    resources('AWS::Scheduler::Schedule').find(([, { Properties }]) => Properties.Name === name)![1].Properties

  it('SQS-10 name each run by the time that it was due', () => {
    const { Target, ScheduleExpression, ScheduleExpressionTimezone, FlexibleTimeWindow } = scheduleNamed('nightly')
    expect([ScheduleExpression, ScheduleExpressionTimezone, FlexibleTimeWindow]).toEqual([
      'cron(0 2 * * ? *)',
      'UTC',
      { Mode: 'OFF' },
    ])
    const input = JSON.parse(resolved((Target as { Input: unknown }).Input))
    expect(input).toEqual({
      schedule: 'nightly',
      scheduledAt: '<aws.scheduler.scheduled-time>',
      // Hook events and messages are read only where the configuration says so.
      streams: streams.map(({ name }) => name).filter((name) => name !== 'hook_events' && name !== 'session_messages'),
    })
    expect(ScheduledRun.safeParse({ ...input, scheduledAt: '2026-11-28T02:00:00Z' }).success).toBe(true)
  })

  it('TIME-02 follow the zone that the configuration names', () => {
    const nightly = { expression: 'cron(30 2 * * ? *)', timeZone: 'America/New_York', alarmAfterHours: 27 }
    const { resources: other } = synthesize({ schedules: { nightly } })
    expect(other('AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties)).toMatchObject([
      { ScheduleExpression: 'cron(0 4 * * ? *)', ScheduleExpressionTimezone: 'Etc/UTC' },
      { ScheduleExpression: 'cron(30 2 * * ? *)', ScheduleExpressionTimezone: 'America/New_York' },
    ])
  })

  it('have the audit trail looked at and signed every day, in time for what the last digest promised', () => {
    const { ScheduleExpression, GroupName, Target } = scheduleNamed('audit-digest')
    // A group of its own: a schedule of the configuration may have the same name.
    expect([ScheduleExpression, GroupName]).toEqual(['cron(0 4 * * ? *)', 'platform-sync-audit'])
    expect(resolved((Target as { Arn: unknown }).Arn)).toMatch(/^AuditDigestFunction\w+\.Arn$/)
  })

  it('keep what could not be started in a queue', () => {
    expect(resources('AWS::Scheduler::Schedule')).toHaveLength(3)
    for (const [, { Properties }] of resources('AWS::Scheduler::Schedule')) {
      const { DeadLetterConfig } = Properties.Target as { DeadLetterConfig: { Arn: unknown } }
      expect(resolved(DeadLetterConfig.Arn)).toContain('platform-sync-undelivered-starts')
    }
  })
})

describe('cdk-nag', () => {
  it('finds nothing but what is acknowledged with a reason', () => {
    expect(findings).toEqual([])
  })

  it('stops the synth of every test here when it finds something', () => {
    const app = appFor()
    addInstallation(app, { platform })
    new Bucket(new Stack(app, 'Careless'), 'Open')
    expect(() => app.synth()).toThrow(/AwsSolutions-S1'/)
  })
})

describe('dependencies', () => {
  it('CDK-03 have no cycle', () => {
    for (const template of [synthesize().stateful, stateless]) {
      const all = template.toJSON().Resources as Record<string, unknown>
      const needs = (id: string) =>
        Object.keys(all).filter((other) =>
          new RegExp(`"(Ref|Fn::GetAtt|DependsOn)":\\[?"${other}"`).test(JSON.stringify(all[id])),
        )
      const settled = new Set<string>()
      const visit = (id: string, path: string[]): void => {
        if (settled.has(id)) return
        expect(path, `${id} needs itself`).not.toContain(id)
        for (const need of needs(id)) visit(need, [...path, id])
        settled.add(id)
      }
      for (const id of Object.keys(all)) visit(id, [])
    }
  })
})

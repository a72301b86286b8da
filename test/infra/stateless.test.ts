import { readFileSync } from 'node:fs'
import { Stack } from 'aws-cdk-lib'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { describe, expect, it } from 'vitest'
import { addInstallation } from '../../infra/build.ts'
import { Occasion } from '../../lib/sync/occasion.ts'
import { appFor, platform, resolved, synthesize } from './synthesized.ts'

const { stateless, resources, findings } = synthesize({ alarmEmail: 'ops@example.com' })

type Statement = { Action: string | string[]; Resource: unknown; Effect: string }

/** What the role of a function or a service may do: `action on resource`, sorted. */
const permissionsOf = (role: string): string[] => {
  const policies = resources('AWS::IAM::Policy').filter(([, { Properties }]) =>
    resolved(Properties.Roles).startsWith(role),
  )
  const statements = policies.flatMap(
    ([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
  )
  return statements
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} on ${short(resource)}`)),
    )
    .sort()
}

const short = (resource: unknown) =>
  resolved(resource)
    .replace(':us-east-1:123456789012:', ':')
    .replace('-123456789012-us-east-1', '')
    .replace(/Ssm\w+Parameter/, 'KeyArn')
    .replace(/[0-9A-F]{8}(?=\.Arn|$)/, '')

const tracing = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *']

describe('what functions may do', () => {
  it('lets sync-stream read its secrets, move its checkpoint and write its own folders of the lake', () => {
    expect(permissionsOf('SyncStreamRole')).toEqual([
      'dynamodb:BatchGetItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:BatchWriteItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-state',
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'logs:CreateLogStream on SyncStreamLogs.Arn',
      'logs:PutLogEvents on SyncStreamLogs.Arn',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/bodies/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/index/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/quarantine/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/bodies/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/quarantine/*',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/api-key-??????',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/redaction-key-??????',
      ...tracing,
    ])
  })

  it('lets publish-run write manifests, partitions and one event, remove leftovers, and read no secret', () => {
    const tables = ['computer_provisioning_steps', 'computers', 'enterprise_control_revisions', 'organization_users']
    const more = ['readiness_apps', 'readiness_criteria', 'readiness_reports', 'session_tags', 'sessions']
    expect(permissionsOf('PublishRunRole')).toEqual([
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:PutItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-state',
      'events:PutEvents on arn:aws:events:event-bus/default',
      'glue:BatchCreatePartition on arn:aws:glue:catalog',
      'glue:BatchCreatePartition on arn:aws:glue:database/platform_sync',
      ...[...tables, ...more].map((table) => `glue:BatchCreatePartition on arn:aws:glue:table/platform_sync/${table}`),
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'logs:CreateLogStream on PublishRunLogs.Arn',
      'logs:PutLogEvents on PublishRunLogs.Arn',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/quarantine/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/manifests/*',
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/manifests/*',
      ...tracing,
    ])
  })

  it('lets schedules start the machine and the machine call the two functions', () => {
    expect(permissionsOf('SchedulesRole')).toEqual([
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'sqs:SendMessage on arn:aws:sqs:platform-sync-undelivered-starts',
      'states:StartExecution on SyncMachine',
    ])
    const calls = permissionsOf('SyncMachineRole').filter((permission) => permission.startsWith('lambda'))
    expect(calls).toEqual([
      'lambda:InvokeFunction on PublishRunFunction.Arn',
      'lambda:InvokeFunction on PublishRunFunction.Arn:*',
      'lambda:InvokeFunction on SyncStreamFunction.Arn',
      'lambda:InvokeFunction on SyncStreamFunction.Arn:*',
    ])
  })

  it('gives every resource "*" to those actions alone that know no resources', () => {
    const wild = ['SyncStreamRole', 'PublishRunRole', 'SchedulesRole', 'SyncMachineRole']
      .flatMap(permissionsOf)
      .filter((permission) => permission.endsWith(' on *'))
    for (const permission of wild) expect(permission).toMatch(/^(xray|logs):/)
    expect(resources('AWS::IAM::Policy')).toHaveLength(4)
    for (const [, { Properties }] of resources('AWS::IAM::Role')) expect(Properties.ManagedPolicyArns).toBeUndefined()
  })
})

describe('functions', () => {
  const functions = resources('AWS::Lambda::Function')

  it('run on Node.js 24 on arm64, traced, with memory and time for their work', () => {
    const settings = functions.map(([, { Properties: p }]) => [
      p.FunctionName,
      p.Runtime,
      p.Architectures,
      p.MemorySize,
      p.Timeout,
      p.TracingConfig,
    ])
    const common = ['nodejs24.x', ['arm64']]
    expect(settings).toEqual([
      ['platform-sync-sync-stream', ...common, 1769, 900, { Mode: 'Active' }],
      ['platform-sync-publish-run', ...common, 512, 300, { Mode: 'Active' }],
    ])
  })

  it('CDK-04 write to log groups of their own that keep lines for as long as the configuration says', () => {
    for (const [, { Properties }] of functions) {
      expect(Object.keys(resources('AWS::Logs::LogGroup'))).toHaveLength(3)
      expect(Properties.LoggingConfig).toMatchObject({ LogGroup: { Ref: expect.stringMatching(/Logs/) } })
    }
    const terms = synthesize({ retention: { logDays: 30 } }).resources('AWS::Logs::LogGroup')
    expect(terms.map(([, { Properties }]) => Properties.RetentionInDays)).toEqual([30, 30, 30])
    expect(resources('Custom::LogRetention')).toEqual([])
  })

  it('get names and addresses, and never a secret', () => {
    const environments = functions.map(
      ([, { Properties }]) => (Properties.Environment as { Variables: object }).Variables,
    )
    for (const environment of environments) {
      expect(environment).toMatchObject({
        PLATFORM_APP_URL: 'https://app.example.com',
        PLATFORM_SECRET_ID: 'platform-sync/api-key',
        REDACTION_SECRET_ID: 'platform-sync/redaction-key',
        STATE_TABLE: 'platform-sync-state',
        CATALOG_DATABASE: 'platform_sync',
      })
      expect(environment).not.toHaveProperty('PLATFORM_API_KEY')
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
      streams: ['readiness_reports', 'sessions', 'organization_users', 'enterprise_control_revisions', 'computers'],
    })
    expect(Occasion.safeParse({ ...input, scheduledAt: '2026-11-28T02:00:00Z' }).success).toBe(true)
  })

  it('TIME-02 follow the zone that the configuration names', () => {
    const nightly = { expression: 'cron(30 2 * * ? *)', timeZone: 'America/New_York', alarmAfterHours: 27 }
    const { resources: other } = synthesize({ schedules: { nightly } })
    expect(other('AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties)).toMatchObject([
      { ScheduleExpression: 'cron(30 2 * * ? *)', ScheduleExpressionTimezone: 'America/New_York' },
    ])
  })

  it('keep what could not be started in a queue', () => {
    for (const [, { Properties }] of resources('AWS::Scheduler::Schedule')) {
      const { DeadLetterConfig } = Properties.Target as { DeadLetterConfig: { Arn: unknown } }
      expect(resolved(DeadLetterConfig.Arn)).toContain('platform-sync-undelivered-starts')
    }
  })
})

describe('alarms', () => {
  const alarms = resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties)

  it('watch each promise that can be broken, and reach the topic', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual([
      'platform-sync-controls-not-complete',
      'platform-sync-nightly-not-complete',
      'platform-sync-publish-run-errors',
      'platform-sync-records-quarantined',
      'platform-sync-run-failed',
      'platform-sync-start-undelivered',
      'platform-sync-stream-failed',
      'platform-sync-stream-suspect',
      'platform-sync-sync-stream-errors',
    ])
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmTopic/) }])
    stateless.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' })
  })

  it('are raised when no complete run is seen for as long as a schedule allows, also when nothing runs at all', () => {
    expect(alarms.find(({ AlarmName }) => AlarmName === 'platform-sync-nightly-not-complete')).toMatchObject({
      EvaluationPeriods: 26,
      Period: 3600,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
      MetricName: 'RunComplete',
      Dimensions: [
        { Name: 'schedule', Value: 'nightly' },
        { Name: 'service', Value: 'platform-sync' },
      ],
    })
  })

  it('are each explained to the operator', () => {
    const manual = readFileSync('docs/operations.md', 'utf8')
    for (const { AlarmName } of alarms) {
      const name = String(AlarmName)
        .replace(/^platform-sync-/, '')
        .replace(/^(nightly|controls)/, '<schedule>')
      expect(manual).toContain(`### ${name.replace(/^(sync-stream|publish-run)/, '<function>')}`)
    }
  })

  it('are sent through a topic that CloudWatch may use the key for', () => {
    const [, { Properties }] = resources('AWS::KMS::Key')[0]!
    expect(JSON.stringify(Properties.KeyPolicy)).toContain('"Service":"cloudwatch.amazonaws.com"')
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

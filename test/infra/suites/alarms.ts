import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { resolved, synthesize } from '../synthesized.ts'

const { stateless, resources } = synthesize({ alarmEmail: 'ops@example.com' })

describe('alarms', () => {
  const alarms = resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties)
  it('watch each promise that can be broken, and reach the topic', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual([
      'platform-sync-apply-credit-limits-errors',
      'platform-sync-apply-credit-policy-errors',
      'platform-sync-audit-digest-errors',
      'platform-sync-audit-digest-missing',
      'platform-sync-audit-findings',
      'platform-sync-controls-not-complete',
      'platform-sync-import-credit-limits-errors',
      'platform-sync-inbox-file-waits',
      'platform-sync-limit-dead-letters',
      'platform-sync-limit-messages-failed',
      'platform-sync-limit-messages-late',
      'platform-sync-limits-failed',
      'platform-sync-limits-plan-waits',
      'platform-sync-limits-policy-failed',
      'platform-sync-nightly-not-complete',
      'platform-sync-publish-run-errors',
      'platform-sync-records-quarantined',
      'platform-sync-rule-refused',
      'platform-sync-run-failed',
      'platform-sync-schedule-refused',
      'platform-sync-start-undelivered',
      'platform-sync-stream-failed',
      'platform-sync-stream-suspect',
      'platform-sync-sync-stream-errors',
      'platform-sync-write-report-errors',
    ])
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmTopic/) }])
    stateless.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' })
  })

  it('are called as no alarm of another installation, whatever hyphens are in its name and in those of schedules', () => {
    const schedule = { expression: 'rate(1 day)', alarmAfterHours: 26 }
    const namesIn = (name: string, schedules: string[]) =>
      synthesize({ name, schedules: Object.fromEntries(schedules.map((each) => [each, schedule])) })
        .resources('AWS::CloudWatch::Alarm')
        .map(([, { Properties }]) => String(Properties.AlarmName))
    const acme = namesIn('acme', ['x-y', 'x', 'x-y-not-complete', 'run', 'z'])
    const acmeX = namesIn('acme-x', ['y', 'y-not-complete', 'run-failed', 'z'])
    expect(acme).toEqual(expect.arrayContaining(['acme-x_y-not-complete', 'acme-z-not-complete']))
    expect(acmeX).toEqual(expect.arrayContaining(['acme-x-y-not-complete', 'acme-x-z-not-complete']))
    expect(acme.filter((name) => acmeX.includes(name))).toEqual([])
    // The others have fixed names: none of them may be the end of another one, behind a hyphen.
    const fixed = acme.filter((name) => !name.endsWith('-not-complete')).map((name) => name.slice('acme-'.length))
    expect(fixed.filter((name) => fixed.some((other) => other.endsWith(`-${name}`)))).toEqual([])
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

  it('are raised when a file stays in the inbox, also when nobody looks; the look comes four times in its hour', () => {
    expect(alarms.find(({ AlarmName }) => AlarmName === 'platform-sync-inbox-file-waits')).toMatchObject({
      ...{ EvaluationPeriods: 1, Threshold: 0, ComparisonOperator: 'GreaterThanThreshold' },
      TreatMissingData: 'breaching',
      Metrics: [{ MetricStat: { Period: 3600, Metric: { MetricName: 'InboxFilesWaiting' } } }],
    })
    const rules = resources('AWS::Events::Rule').map(([, { Properties }]) => Properties)
    const look = rules.find(({ Name }) => Name === 'platform-sync-inbox-look')
    expect(look).toMatchObject({ ScheduleExpression: 'rate(15 minutes)', State: 'ENABLED' })
    expect(resolved((look!.Targets as { Arn: unknown }[])[0]!.Arn)).toMatch(/^LimitsImportFunction\w+\.Arn$/)
  })

  it('watch what comes from the ledger of credit limits as any stream: it fails, it is suspect, its run is not complete', () => {
    for (const name of ['stream-failed', 'stream-suspect', 'records-quarantined']) {
      const alarm = alarms.find(({ AlarmName }) => AlarmName === `platform-sync-${name}`)
      expect(JSON.stringify(alarm?.Metrics)).toContain('{"Name":"stream","Value":"credit_limit_outcomes"}')
    }
    const inputs = resources('AWS::Scheduler::Schedule').map(([, { Properties }]) => [
      Properties.Name,
      String(resolved((Properties.Target as { Input?: unknown }).Input ?? '')).includes('"credit_limit_outcomes"'),
    ])
    expect(inputs).toContainEqual(['nightly', true])
  })

  it('see every rule that brings work and every group of schedules refused', () => {
    const dimensionsOf = (alarm: string) => {
      const { Metrics } = alarms.find(({ AlarmName }) => AlarmName === `platform-sync-${alarm}`)!
      const metrics = Metrics as { MetricStat?: { Metric: { MetricName: string; Dimensions: { Value: string }[] } } }[]
      return metrics.flatMap(({ MetricStat }) =>
        MetricStat ? `${MetricStat.Metric.MetricName} ${MetricStat.Metric.Dimensions[0]!.Value}` : [],
      )
    }
    const rules = resources('AWS::Events::Rule').filter(([, { Properties }]) => Properties.EventPattern)
    expect(dimensionsOf('rule-refused')).toEqual(
      rules.map(([, { Properties }]) => `FailedInvocations ${Properties.Name}`),
    )
    const groups = resources('AWS::Scheduler::ScheduleGroup').map(([, { Properties }]) => Properties.Name)
    expect(dimensionsOf('schedule-refused').sort()).toEqual(groups.map((of) => `InvocationDroppedCount ${of}`).sort())
  })

  it('say where the page of the last night is, unless there is none', () => {
    const page = 's3://platform-sync-lake-123456789012-us-east-1/reports/latest.html'
    for (const { AlarmDescription } of alarms) expect(resolved(AlarmDescription)).toContain(page)
    const without = synthesize({ reports: { enabled: false } })
    expect(JSON.stringify(without.resources('AWS::CloudWatch::Alarm'))).not.toContain('reports/')
  })

  it('are each explained to the operator', () => {
    const manual = readFileSync('docs/operations.md', 'utf8')
    for (const { AlarmName } of alarms) {
      const name = String(AlarmName)
        .replace(/^platform-sync-/, '')
        .replace(/^(nightly|controls)/, 'SCHEDULE')
      expect(manual).toContain(`### ${name.replace(/^[a-z-]+(?=-errors$)/, 'FUNCTION')}`)
    }
  })

  it('are sent through a topic that CloudWatch may publish to, and may use the key for', () => {
    const [, topicPolicy] = resources('AWS::SNS::TopicPolicy')[0]!
    expect(JSON.stringify(topicPolicy)).toContain(
      '"Action":"sns:Publish","Condition":{"StringEquals":{"aws:SourceAccount"',
    )
    const [, { Properties }] = resources('AWS::KMS::Key')[0]!
    expect(JSON.stringify(Properties.KeyPolicy)).toContain('"Service":"cloudwatch.amazonaws.com"')
  })
})

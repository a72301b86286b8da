import { describe, expect, it } from 'vitest'
import { configuredRules, watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import { functionNamed, resolved, synthesize, variablesOf } from '../synthesized.ts'

// The same configuration as in stateless.ts: it is synthesized once.
const { resources } = synthesize({ alarmEmail: 'ops@example.com' })

describe('credit limits and the audit trail', () => {
  const [, { Properties: mapping }] = resources('AWS::Lambda::EventSourceMapping')[0]!
  const queueNamed = (name: string) =>
    resources('AWS::SQS::Queue').find(([, { Properties }]) => Properties.QueueName === `platform-sync-${name}`)!

  it('SQS-01 come in batches of which only failed messages come again', () => {
    expect(mapping).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] })
    expect(resolved(mapping.FunctionName)).toMatch(/^LimitsApplyFunction/)
    expect(resolved(mapping.EventSourceArn)).toBe('arn:aws:sqs:us-east-1:123456789012:platform-sync-limits.fifo')
  })

  it('SQS-02 stay hidden for six times what a batch may take, and are dead letters after five times', () => {
    const apply = functionNamed('apply-credit-limits')
    const [deadLetters] = queueNamed('limits-dead-letters.fifo')
    // FIFO queues have no batching window.
    expect(mapping.MaximumBatchingWindowInSeconds).toBeUndefined()
    expect(queueNamed('limits.fifo')[1].Properties).toMatchObject({
      FifoQueue: true,
      VisibilityTimeout: 6 * (apply.Timeout as number),
      RedrivePolicy: { maxReceiveCount: 5, deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
    })
    expect(apply.ReservedConcurrentExecutions).toBeUndefined()
    const alarm = resources('AWS::CloudWatch::Alarm').find(
      ([, { Properties }]) => Properties.AlarmName === 'platform-sync-limit-dead-letters',
    )
    expect(alarm?.[1].Properties).toMatchObject({
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [
        { Name: 'QueueName', Value: resolved(queueNamed('limits-dead-letters.fifo')[1].Properties.QueueName) },
      ],
    })
  })

  it('wait in queues that are encrypted, take TLS alone and keep messages for two weeks', () => {
    const policies = JSON.stringify(resources('AWS::SQS::QueuePolicy'))
    for (const [id, { Properties }] of resources('AWS::SQS::Queue')) {
      expect(Properties).toMatchObject({ MessageRetentionPeriod: 1_209_600, KmsMasterKeyId: expect.anything() })
      expect(policies).toContain(`"Resource":{"Fn::GetAtt":["${id}","Arn"]}`)
    }
    expect(policies.match(/"aws:SecureTransport":"false"/g)).toHaveLength(5)
  })

  it('are imported from files of the inbox, and not from those that were dealt with', () => {
    const [, { Properties }] = resources('AWS::Events::Rule')[0]!
    expect(Properties.EventPattern).toEqual({
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: {
        bucket: { name: [expect.objectContaining({ 'Fn::Join': expect.anything() })] },
        object: {
          key: [{ 'anything-but': { prefix: ['done/', 'failed/', 'policy/', 'policy-plans/', 'policy-approvals/'] } }],
        },
      },
    })
    expect(JSON.stringify(Properties.EventPattern)).toContain('platform-sync-inbox-')
    const [, inbox] = resources('AWS::S3::Bucket').find(([id]) => id === 'InboxBucket')!
    expect(inbox.Properties.NotificationConfiguration).toEqual({
      EventBridgeConfiguration: { EventBridgeEnabled: true },
    })
    expect(resources('Custom::S3BucketNotifications')).toEqual([])
  })

  it('get the guard rails and the watch rules of the configuration', () => {
    const rule = {
      id: 'own',
      paths: ['sessionRetentionDays'],
      when: { number: 'lower' as const },
      severity: 'critical' as const,
      why: 'Our policy.',
    }
    const configured = synthesize({ limits: { maxLimit: 900, maxChanges: 20 }, watchRules: [rule] })
    const guarded = { LIMITS_MAX_LIMIT: '900', LIMITS_MAX_CHANGES: '20' }
    expect(variablesOf(configured, 'apply-credit-limits')).toMatchObject(guarded)
    expect(variablesOf(configured, 'import-credit-limits')).toMatchObject(guarded)
    expect(configuredRules(variablesOf(configured, 'sync-stream').AUDIT_WATCH_RULES)).toContainEqual(rule)
    expect(configuredRules(variablesOf(synthesize(), 'sync-stream').AUDIT_WATCH_RULES)).toEqual(watchRules)
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { functionNamed, resolved, scheduledInput, synthesize, variablesOf } from '../synthesized.ts'

const collecting = synthesize({ hooks: { enabled: true } })
const { resources, findings, stateless } = collecting

describe('the collector of hook events', () => {
  it('is not there unless the configuration says so, and neither is its stream', () => {
    const { resources: usual } = synthesize()
    expect(usual('AWS::ApiGatewayV2::Api')).toEqual([])
    expect(variablesOf(synthesize(), 'sync-stream')).not.toHaveProperty('HOOKS_TABLE')
    expect(scheduledInput(synthesize(), 'nightly').streams).not.toContain('hook_events')
    expect(scheduledInput(collecting, 'nightly').streams).toContain('hook_events')
    expect(variablesOf(collecting, 'sync-stream')).toMatchObject({ HOOKS_TABLE: 'platform-sync-hooks' })
  })

  it('takes one path and one method, within the limit of the configuration', () => {
    expect(resources('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => Properties.RouteKey)).toEqual([
      'POST /v1/hook-events',
    ])
    const stages = synthesize({ hooks: { enabled: true, requestsPerSecond: 7 } }).resources('AWS::ApiGatewayV2::Stage')
    expect(stages.map(([, { Properties }]) => Properties)).toMatchObject([
      { StageName: '$default', DefaultRouteSettings: { ThrottlingRateLimit: 7, ThrottlingBurstLimit: 14 } },
    ])
  })

  it('logs who asked and what was answered, and neither headers nor bodies', () => {
    const [, { Properties }] = resources('AWS::ApiGatewayV2::Stage')[0]!
    const { Format } = Properties.AccessLogSettings as { Format: string }
    expect(Object.values(JSON.parse(Format)).join(' ')).not.toMatch(/header|body|authorization/i)
  })

  it('gathers events for a minute, and gives back only messages that failed', () => {
    const mapping = resources('AWS::Lambda::EventSourceMapping').find(([, { Properties }]) =>
      resolved(Properties.EventSourceArn).endsWith(':platform-sync-hook-events'),
    )![1].Properties
    expect(mapping).toMatchObject({
      BatchSize: 100,
      MaximumBatchingWindowInSeconds: 60,
      ScalingConfig: { MaximumConcurrency: 4 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    })
    const [[deadLetters] = ['']] = resources('AWS::SQS::Queue').filter(
      ([, { Properties }]) => Properties.QueueName === 'platform-sync-hook-events-dead-letters',
    )
    const [, queue] = resources('AWS::SQS::Queue').find(
      ([, { Properties }]) => Properties.QueueName === 'platform-sync-hook-events',
    )!
    expect(queue.Properties).toMatchObject({
      VisibilityTimeout: 6 * (functionNamed('store-hook-events', collecting).Timeout as number) + 60,
      RedrivePolicy: { maxReceiveCount: 5, deadLetterTargetArn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
    })
    const [, table] = resources('AWS::DynamoDB::Table').find(([id]) => id === 'HooksTable')!
    expect(table.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'expiresAt', Enabled: true })
  })

  it('gets names and choices, and never a secret', () => {
    expect(Object.keys(variablesOf(collecting, 'collect-hook-events')).filter((name) => /^HOOKS/.test(name))).toEqual([
      'HOOKS_QUEUE_URL',
      'HOOKS_SECRET_ID',
    ])
    const chosen = synthesize({ hooks: { enabled: true, cwd: 'dropped', host: 'kept' } })
    expect(variablesOf(chosen, 'store-hook-events')).toMatchObject({ HOOKS_CWD: 'dropped', HOOKS_HOST: 'kept' })
    expect(variablesOf(collecting, 'store-hook-events')).toMatchObject({ HOOKS_CWD: 'kept', HOOKS_HOST: 'hashed' })
  })

  it('has alarms that the manual explains', () => {
    const names = resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => String(Properties.AlarmName))
    const own = ['hook-dead-letters', 'hook-events-late', 'hook-requests-failed']
    const functions = ['collect-hook-events-errors', 'store-hook-events-errors']
    expect(names).toEqual(expect.arrayContaining([...own, ...functions].map((name) => `platform-sync-${name}`)))
    const manual = readFileSync('docs/operations.md', 'utf8')
    for (const name of own) expect(manual).toContain(`### ${name}\n`)
  })

  it('tells its address, and breaks no rule of cdk-nag', () => {
    expect(Object.keys(stateless.toJSON().Outputs)).toContain('HOOKSURL')
    expect(findings).toEqual([])
  })
})

import type { Context } from 'aws-lambda'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTelemetry } from '../../functions/telemetry.ts'

const lines: Record<string, unknown>[] = []

beforeEach(() => {
  lines.length = 0
  // With it Powertools writes to the console, which a test can listen to.
  vi.stubEnv('POWERTOOLS_DEV', 'true')
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false')
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'acme')
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'AgentPlatformSync')
  for (const level of ['log', 'debug', 'info', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line: string) => {
      lines.push(JSON.parse(line))
    })
  }
})

describe('what a function says', () => {
  it('is one JSON line with level, service and the request it belongs to', () => {
    const { log, begin } = createTelemetry()
    begin({ functionName: 'sync-stream', awsRequestId: 'r-1', memoryLimitInMB: '128' } as Context)
    log.warn('A page token was refused.', { stream: 'sessions' })
    expect(lines).toMatchObject([
      {
        level: 'WARN',
        message: 'A page token was refused.',
        stream: 'sessions',
        service: 'acme',
        function_request_id: 'r-1',
      },
    ])
  })

  it('is a metric with its dimensions and unit, in the namespace of the alarms', () => {
    createTelemetry().metrics.count('ScanSeconds', 2.5, { stream: 'sessions' })
    createTelemetry().metrics.count('RecordsChanged', 3, { stream: 'computers' })
    expect(lines).toMatchObject([
      { service: 'acme', stream: 'sessions', ScanSeconds: 2.5 },
      { service: 'acme', stream: 'computers', RecordsChanged: 3 },
    ])
    const [seconds, count] = lines.map(({ _aws }) => (_aws as { CloudWatchMetrics: unknown[] }).CloudWatchMetrics)
    expect(seconds).toEqual([
      {
        Namespace: 'AgentPlatformSync',
        Dimensions: [['service', 'stream']],
        Metrics: [{ Name: 'ScanSeconds', Unit: 'Seconds' }],
      },
    ])
    expect(count).toMatchObject([{ Metrics: [{ Name: 'RecordsChanged', Unit: 'Count' }] }])
  })
})

import { describe, expect, it } from 'vitest'
import type { Metrics } from '../../lib/core/metrics.ts'
import { emitRunMetrics } from '../../lib/publish/steps.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import type { ScanContext, StreamResult } from '../../lib/sync/context.ts'
import { emitMetrics } from '../../lib/sync/emit-metrics.ts'

function recorded() {
  const sent: Record<string, unknown> = {}
  const metrics: Metrics = {
    count: (name, value, dimensions) => {
      sent[name] = [value, dimensions]
    },
  }
  return { sent, metrics }
}

function measured(result: Partial<StreamResult>) {
  const { sent, metrics } = recorded()
  const attempt = {
    deps: { metrics, clock: { now: () => 61_000 } },
    scan: { startedAt: 1_000 },
  } as unknown as ScanContext
  const whole = { stream: 'sessions', runId: 'r', reason: null, retryAfterMs: null, counts: null, ...result }
  expect(emitMetrics(whole as StreamResult, attempt)).toBe(whole)
  return sent
}

function of(value: number) {
  return [value, { stream: 'sessions' }]
}

describe('measurements', () => {
  it('of a complete scan tell all of it', () => {
    const counts = Counts.parse({
      received: 20,
      inserted: 3,
      updated: 4,
      unchanged: 10,
      duplicate: 1,
      quarantined: 2,
      deleted: 5,
      drifted: 6,
      invalid: { title: 2, 'tags[].name': 1 },
      pages: 7,
      apiCalls: 9,
    })
    expect(measured({ status: 'complete', counts })).toEqual({
      StreamComplete: of(1),
      ApiCalls: of(9),
      ApiRetries: of(2),
      RecordsReceived: of(20),
      RecordsChanged: of(7),
      RecordsDeleted: of(5),
      RecordsQuarantined: of(2),
      FieldsDrifted: of(6),
      FieldsInvalid: of(3),
      ScanSeconds: of(60),
    })
  })

  it('of a suspect scan say so and nothing of completeness', () => {
    const sent = measured({ status: 'suspect', counts: Counts.parse({}) })
    expect(sent.StreamSuspect).toEqual(of(1))
    expect(sent).not.toHaveProperty('StreamComplete')
  })

  it('of a failed attempt tell the failure alone', () => {
    expect(measured({ status: 'failed', counts: Counts.parse({ received: 5 }) })).toEqual({ StreamFailed: of(1) })
  })

  it.each(['paused', 'rate_limited', 'running', 'skipped'] as const)('are none when an attempt is %s', (status) => {
    expect(measured({ status, counts: Counts.parse({ received: 5 }) })).toEqual({})
  })

  it('of a run tell by schedule whether everything is complete', () => {
    const { sent, metrics } = recorded()
    const record = { runId: 'r', scheduledAt: 0, finishedAt: 1, streams: [] }
    emitRunMetrics({ ...record, status: 'complete' }, 'nightly', metrics)
    expect(sent).toEqual({ RunComplete: [1, { schedule: 'nightly' }] })
    emitRunMetrics({ ...record, status: 'partial' }, 'nightly', metrics)
    expect(sent).toEqual({ RunComplete: [0, { schedule: 'nightly' }] })
  })
})

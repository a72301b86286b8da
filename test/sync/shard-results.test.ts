import { describe, expect, it } from 'vitest'
import { Counts, type StreamStatus } from '../../lib/sync/checkpoint.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import { resultOfShards } from '../../lib/sync/shard-results.ts'

function shard(n: number, status: StreamStatus, more: Partial<StreamResult> = {}): StreamResult {
  const stream = `things/${String(n).padStart(2, '0')}`
  return { stream, runId: 'r', status, reason: null, retryAfterMs: null, counts: null, ...more }
}

describe('the result of a stream in shards', () => {
  it('is complete when all are, with counts added up', () => {
    const counts = Counts.parse({ received: 3, inserted: 3, invalid: { title: 1 } })
    const notices = [{ severity: 'warning', code: 'c', about: 'a', message: 'm' } as const]
    const shards = [shard(0, 'complete', { counts, ofRun: counts, notices }), shard(1, 'complete', { counts })]
    expect(resultOfShards('things', shards)).toMatchObject({
      ...{ stream: 'things', runId: 'r', status: 'complete', reason: null, notices },
      counts: { received: 6, inserted: 6, invalid: { title: 2 } },
      ofRun: { received: 3 },
    })
  })

  it('is as its gravest shard is, and names those that are not complete', () => {
    const shards = [
      shard(0, 'complete'),
      shard(1, 'rate_limited', { retryAfterMs: 5_000 }),
      shard(2, 'failed', { reason: 'it broke' }),
    ]
    expect(resultOfShards('things', shards)).toMatchObject({
      status: 'failed',
      reason: '2 of 3 shards are not complete: 02 (failed: it broke), 01 (rate_limited)',
      retryAfterMs: 5_000,
      counts: null,
    })
  })

  it('says what befell all of them once', () => {
    const reason = 'sessions was never read whole'
    const shards = [shard(0, 'skipped', { reason }), shard(1, 'skipped', { reason })]
    expect(resultOfShards('things', shards)).toMatchObject({ status: 'skipped', reason })
  })

  it('stays short when much is wrong', () => {
    const shards = Array.from({ length: 64 }, (_, n) => shard(n, 'failed', { reason: `reason ${n}` }))
    const { reason } = resultOfShards('things', shards)
    expect(reason).toMatch(/^64 of 64 shards are not complete: 00 \(failed: reason 0\), .* and 56 more$/)
    expect(reason?.match(/reason/g)).toHaveLength(3)
  })
})

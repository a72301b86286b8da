import { describe, expect, it } from 'vitest'
import { type ErrorCode, FatalError } from '../../lib/core/errors.ts'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import {
  emitRunMetrics,
  failureOf,
  laterIfOvertaken,
  resultOfSteps,
  resultsOfShards,
  StepOutcome,
} from '../../lib/publish/steps.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import { stepAfter } from '../../lib/sync/drive-stream.ts'

function result(more: Partial<StreamResult>): StreamResult {
  return {
    stream: 'sessions',
    runId: 'r',
    status: 'rate_limited',
    reason: null,
    retryAfterMs: null,
    counts: null,
    ...more,
  }
}

function record(...streams: [string, RunRecord['streams'][number]['status'], string | null][]): RunRecord {
  return {
    runId: 'r',
    scheduledAt: 0,
    finishedAt: 1,
    status: 'partial',
    streams: streams.map(([stream, status, reason]) => ({ stream, status, reason, counts: null })),
  }
}

describe('a step of the state machine', () => {
  it('waits whole seconds, never less than the platform asked for, and at least one', () => {
    const seconds = [null, 0, 1, 1_000, 1_001, 900_000].map(
      (retryAfterMs) => stepAfter(result({ retryAfterMs })).waitSeconds,
    )
    expect(seconds).toEqual([1, 1, 1, 1, 2, 900])
  })

  it('comes back from the state machine as the result it was', () => {
    const before = result({ status: 'complete' })
    const outcome = StepOutcome.parse(JSON.parse(JSON.stringify(stepAfter(before))))
    expect(resultOfSteps(outcome, 'r')).toEqual(before)
  })

  it.each([
    ['{"errorType":"Error","errorMessage":"out of memory"}', 'Lambda.Unknown: out of memory'],
    ['no JSON at all', 'Lambda.Unknown: no JSON at all'],
    ['{"message":1}', 'Lambda.Unknown: {"message":1}'],
  ])('whose function died with %s makes its stream failed, with that as its reason', (Cause, reason) => {
    const outcome = StepOutcome.parse({ stream: 'sessions', error: { Error: 'Lambda.Unknown', Cause } })
    expect(resultOfSteps(outcome, 'r')).toEqual(result({ status: 'failed', reason }))
  })
})

describe('the steps of shards', () => {
  const shards = ['things/00', 'things/01', 'things/02', 'things/03']

  it('stay so short that the results of all shards fit into one state', () => {
    const invalid = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`field${n}`, n]))
    const counts = Counts.parse({ received: 5, inserted: 5, invalid })
    const notice = { severity: 'info', code: 'c', about: 'a', message: 'm'.repeat(9_000) } as const
    const long = { status: 'failed', reason: 'r'.repeat(9_000), counts, ofRun: counts, notices: [notice] } as const
    const step = stepAfter(result({ stream: 'things/00', ...long }))
    expect(JSON.stringify(step).length).toBeLessThan(2_000)
    expect(step).toMatchObject({ status: 'failed', counts: { received: 5 } })
    expect(stepAfter(result({ ...long }))).toMatchObject({ notices: [notice] })
  })

  it('are told as one stream, with what their checkpoints say, and those of which nothing is heard as failed', () => {
    const counts = Counts.parse({ received: 1, inserted: 1 })
    const notices = [{ severity: 'info', code: 'c', about: 'a', message: 'm' } as const]
    const shardOutcomes = [
      StepOutcome.parse({ stream: 'things/01', error: { Error: 'Lambda.Unknown' } }),
      ...['things/00', 'things/03'].map((stream) =>
        StepOutcome.parse(stepAfter(result({ stream, status: 'complete', counts }))),
      ),
    ]
    const told = resultsOfShards({ shards, shardOutcomes }, 'r', new Map([['things/03', [...notices]]]))
    expect(told).toMatchObject([
      {
        ...{ stream: 'things', status: 'failed', counts: { received: 2 }, notices },
        reason:
          '2 of 4 shards are not complete: 01 (failed: Lambda.Unknown), 02 (failed: its execution did not come to an end)',
      },
    ])
    expect(resultsOfShards({ shards: [], shardOutcomes: [] }, 'r')).toEqual([])
  })
})

describe('the failure of a run', () => {
  it('is none when every stream was read, needs a look, or is not enabled for the organization', () => {
    const streams = record(['a', 'complete', null], ['b', 'suspect', 'look'], ['c', 'skipped', 'forbidden'])
    expect(failureOf(streams)).toBeNull()
  })

  it('names each stream that did not come to its end, with the reason', () => {
    const streams = record(['a', 'failed', 'no list'], ['b', 'complete', null], ['c', 'paused', null])
    expect(failureOf(streams)).toBe('a failed: no list\nc paused')
  })

  it('names each table that lacks what is published, and such a run is not complete', () => {
    const since = '2026-11-28T02:10:00.000Z'
    const behind = ['x', 'y'].map((table) => ({ table, since, reason: table === 'x' ? 'no right' : null }))
    const run = { ...record(['a', 'complete', null]), status: 'complete' as const, behind }
    expect(failureOf(run)).toBe(
      `table x is behind since ${since}: no right\ntable y is behind since ${since}: there was no time for it yet`,
    )
    const counted: number[] = []
    const metrics = { count: (_: string, value: number) => void counted.push(value) }
    for (const each of [run, { ...run, behind: undefined }]) emitRunMetrics(each as RunRecord, 'nightly', metrics)
    expect(counted).toEqual([0, 1])
  })
})

describe('an attempt to publish', () => {
  const thrown = (code: ErrorCode) => {
    try {
      return laterIfOvertaken(new FatalError('why', { code }))
    } catch (error) {
      return error
    }
  }

  it('that another run overtook may be made again, and any other that is beyond repair may not', () => {
    expect(thrown('lease_lost')).toMatchObject({ name: 'RetryableError', message: 'why' })
    expect(thrown('configuration')).toMatchObject({ name: 'FatalError', code: 'configuration' })
  })
})

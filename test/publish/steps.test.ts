import { describe, expect, it } from 'vitest'
import { type ErrorCode, FatalError } from '../../lib/core/errors.ts'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import { failureOf, laterIfOvertaken, resultOfSteps, StepOutcome } from '../../lib/publish/steps.ts'
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

describe('the failure of a run', () => {
  it('is none when every stream was read, needs a look, or is not enabled for the organization', () => {
    const streams = record(['a', 'complete', null], ['b', 'suspect', 'look'], ['c', 'skipped', 'forbidden'])
    expect(failureOf(streams)).toBeNull()
  })

  it('names each stream that did not come to its end, with the reason', () => {
    const streams = record(['a', 'failed', 'no list'], ['b', 'complete', null], ['c', 'paused', null])
    expect(failureOf(streams)).toBe('a failed: no list\nc paused')
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

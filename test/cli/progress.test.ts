import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { timeOfDay } from '../../lib/cli/output.ts'
import { createLog, createProgress } from '../../lib/cli/progress.ts'
import { troublesOf } from '../../lib/cli/troubles.ts'

/** Progress on a stream that is no terminal, at a time that stands until it is moved. */
function told({ json }: { json: boolean }) {
  let now = Date.UTC(2026, 4, 6, 23, 59, 0)
  const stderr = new PassThrough()
  const clock = { now: () => now }
  const pass = (seconds: number) => {
    now += seconds * 1000
  }
  const said = () =>
    String(stderr.read() ?? '')
      .split('\n')
      .slice(0, -1)
  return { progress: createProgress({ stderr, clock, json }), clock, pass, said }
}

const end = {
  stream: 'sessions',
  runId: 'r',
  status: 'complete',
  reason: null,
  retryAfterMs: null,
  counts: null,
} as const

describe('progress without a terminal', () => {
  it('is a line every ten seconds: done, rate, time passed and time left', () => {
    const { progress, pass, said } = told({ json: false })
    progress.begin('sessions', { records: 4_000, before: 1_000 })
    for (let page = 0; page < 19; page++) {
      pass(1)
      progress.add('sessions', 100)
    }
    expect(said()).toEqual(['sessions: 2,000 of 4,000 records, 100/s, 10 s passed, about 20 s left'])
    progress.end(end)
    expect(said()).toEqual(['sessions: complete, 0 records read'])
  })

  it('does not guess what is left while nobody knows how many there are', () => {
    const { progress, pass, said } = told({ json: false })
    progress.begin('sessions', { records: null, before: 0 })
    pass(20)
    progress.add('sessions', 100)
    expect(said()).toEqual(['sessions: 100 records, 5/s, 20 s passed'])
  })
})

describe('progress for --json', () => {
  it('is an event per line', () => {
    const { progress, pass, said } = told({ json: true })
    progress.begin('sessions', { records: 400, before: 0 })
    pass(2)
    progress.add('sessions', 100)
    progress.add('sessions', 100)
    progress.line('a line')
    progress.end(end)
    expect(said().map((line) => JSON.parse(line))).toEqual([
      { event: 'progress', stream: 'sessions', records: 100, expected: 400, perSecond: 50, seconds: 2, secondsLeft: 6 },
      { event: 'note', message: 'a line' },
      { event: 'end', stream: 'sessions', status: 'complete', records: 0 },
    ])
  })
})

describe('the log', () => {
  it('tells a wait by the time of day at which it ends, and one cause once', () => {
    const { progress, clock, said } = told({ json: false })
    const log = createLog(progress, { verbose: false, clock })
    log.info('waits', { request: 'GET /a', code: 'rate_limited', waitMs: 30_000 })
    log.error('Not written.', { stream: 'a', reason: 'The disk is full' })
    log.error('Not written.', { stream: 'b', reason: 'The disk is full' })
    expect(said()).toEqual([
      'GET /a: rate limited, tries again at 23:59:30 UTC (in 30 s)',
      'error: Not written. stream=a reason=The disk is full',
    ])
    expect(timeOfDay(clock.now() + 60_000, clock.now())).toBe('2026-05-07 00:00:00 UTC')
  })
})

it('one cause is told once for all streams that it met', () => {
  const failed = (stream: string, reason: string | null) => ({ stream, status: 'failed' as const, reason })
  const [a, b] = ['GET /a was answered with 401.', 'GET /b was answered with 401.']
  expect(troublesOf([failed('a', a), failed('b', b), failed('c', null), failed('d', 'lost')])).toEqual([
    { streams: ['a', 'b'], status: 'failed', reason: 'each request was answered with 401.' },
    { streams: ['d'], status: 'failed', reason: 'lost' },
  ])
  expect(troublesOf([failed('a', a)])).toMatchObject([{ reason: a }])
})

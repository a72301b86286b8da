import type { Clock } from '../core/clock.ts'
import { duration } from '../report/words.ts'
import { number } from './output.ts'

/** How many records a stream had the last time, and how many of the scan in progress were read before this run. */
export type Expected = { records: number | null; before: number }

/** How far a stream is, and how fast. `secondsLeft` is null while nothing says how many records there are. */
export type Pace = {
  records: number
  expected: number | null
  perSecond: number
  seconds: number
  secondsLeft: number | null
}

/** Counts the records of each stream against the clock. */
export type Paces = {
  begin(stream: string, expected: Expected): void
  add(stream: string, records: number): Pace
  /** The pace so far; null for a stream that did not begin. */
  of(stream: string): Pace | null
}

type Counted = Expected & { began: number; read: number }

/** Paces over a clock. */
export function createPaces(clock: Pick<Clock, 'now'>): Paces {
  const streams = new Map<string, Counted>()
  const begin = (stream: string, expected: Expected) => {
    if (!streams.has(stream)) streams.set(stream, { ...expected, began: clock.now(), read: 0 })
  }
  const paceOf = (counted: Counted) => paceAt(clock.now(), counted)
  return {
    begin,
    add: (stream, records) => {
      begin(stream, { records: null, before: 0 })
      const counted = streams.get(stream) as Counted
      counted.read += records
      return paceOf(counted)
    },
    of: (stream) => {
      const counted = streams.get(stream)
      return counted ? paceOf(counted) : null
    },
  }
}

function paceAt(now: number, { records: expected, before, began, read }: Counted): Pace {
  const seconds = Math.max(0, (now - began) / 1000)
  const perSecond = seconds > 0 ? read / seconds : 0
  const records = before + read
  const left = expected === null ? null : Math.max(0, expected - records)
  const secondsLeft = left === null || perSecond === 0 ? null : left / perSecond
  return { records, expected, perSecond, seconds, secondsLeft }
}

/** A pace in words: `1,200 of 4,000 records, 300/s, 4 s passed, about 9 s left`. */
export function paceText({ records, expected, perSecond, seconds, secondsLeft }: Pace): string {
  const done = expected === null ? `${number(records)} records` : `${number(records)} of ${number(expected)} records`
  const left = secondsLeft === null ? '' : `, about ${duration(secondsLeft * 1000)} left`
  return `${done}, ${number(Math.round(perSecond))}/s, ${duration(seconds * 1000)} passed${left}`
}

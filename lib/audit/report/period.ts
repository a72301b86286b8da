import { utcDate } from '../../core/clock.ts'
import type { RevisionDiff } from '../changes/history.ts'
import type { AuditEntry } from '../trail/entry.ts'

/** A span of whole days in UTC. A side that is null is open. */
export type Period = {
  /** Unix ms of its first moment. */
  from: number | null
  /** Unix ms of the first moment after it. */
  until: number | null
}

const dayMs = 86_400_000

/** The period from one day to another, both included, given as their midnights in UTC. */
export function daysFromTo(from: number | null, to: number | null): Period {
  return { from, until: to === null ? null : to + dayMs }
}

/** The period that a text such as 2026Q3 names; null when it names none. */
export function quarterOf(text: string): Period | null {
  const [, year, quarter] = /^(\d{4})-?Q([1-4])$/i.exec(text) ?? []
  if (year === undefined) return null
  const month = (Number(quarter) - 1) * 3
  return { from: Date.UTC(Number(year), month, 1), until: Date.UTC(Number(year), month + 3, 1) }
}

/** A period in words: "2026-07-01 to 2026-09-30". */
export function periodText({ from, until }: Period): string {
  const [first, last] = [from === null ? null : utcDate(from), until === null ? null : utcDate(until - 1)]
  if (first === null) return last === null ? 'all that is recorded' : `up to ${last}`
  if (last === null) return `since ${first}`
  return first === last ? first : `${first} to ${last}`
}

/** Tells whether a moment lies in a period. */
export function isIn({ from, until }: Period, ms: number): boolean {
  return (from === null || ms >= from) && (until === null || ms < until)
}

/**
 * The moment that a revision belongs to: when it was made, as far as the platform says that in a form that is a time, and
 * else when it was recorded. Another content of a revision that was recorded before belongs to the moment it was seen.
 */
export function momentOf({ entry, previous }: RevisionDiff): number {
  const { updatedAt, recordedAt, revision } = entry
  const made = typeof updatedAt === 'string' && previous?.revision !== revision ? Date.parse(updatedAt) : Number.NaN
  // What is no time at all, as only a foreign entry can have it, lies before every period.
  return [made, Date.parse(recordedAt)].find((ms) => !Number.isNaN(ms)) ?? 0
}

/** What a trail holds of a period. */
export type PeriodHistory = {
  /** In the order of their revisions. */
  diffs: RevisionDiff[]
  /** The newest revision that was made before the period ended: its settings stood at the end. */
  last: AuditEntry | null
  /** Revisions that belong to another time; and how many of those were recorded in this one. */
  outside: number
  recordedLate: number
  /** ISO 8601, UTC: when the first entry was recorded. Null without entries. */
  recordBegan: string | null
}

/** Takes from all revisions, in their order, what belongs to a period. */
export async function historyIn(
  period: Period,
  all: AsyncIterable<RevisionDiff> | Iterable<RevisionDiff>,
): Promise<PeriodHistory> {
  const history: PeriodHistory = { diffs: [], last: null, outside: 0, recordedLate: 0, recordBegan: null }
  for await (const diff of all) {
    const { entry } = diff
    const moment = momentOf(diff)
    if (isIn(period, moment)) history.diffs.push(diff)
    else {
      history.outside += 1
      if (isIn(period, Date.parse(entry.recordedAt))) history.recordedLate += 1
    }
    if (period.until === null || moment < period.until) history.last = entry
    if (entry.sequence === 1) history.recordBegan = entry.recordedAt
  }
  return history
}

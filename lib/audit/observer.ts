import { isPlainObject } from '../core/canonical-json.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Notice } from '../sync/checkpoint.ts'
import type { ObservedRecord, StreamObserver } from '../sync/ports.ts'
import type { AuditHook, AuditNews, WatchedSetting } from './hook.ts'
import { type Finding, revisionsText } from './trail/finding.ts'

/** Lets the audit trail observe the stream of revisions, and measures what it recorded. */
export function createAuditObserver(hook: AuditHook, metrics: Metrics): StreamObserver {
  // A revision that is recorded whatever its form may have no place among the engine's records, and is listed all the same.
  let shown = { scanId: '', revisions: new Set<number>() }
  return {
    flushed: async (records, { runId, scanId }, signal) => {
      if (shown.scanId !== scanId) shown = { scanId, revisions: new Set() }
      for (const number of numbersOf(records)) shown.revisions.add(number)
      await hook.afterFlush(records, { runId, scanId }, signal)
    },
    completed: async ({ runId, scanId, seen, withheld, writeRows }, signal) => {
      const revisions = new Set([...Array.from(seen(), Number), ...(shown.scanId === scanId ? shown.revisions : [])])
      const news = await hook.onComplete({ runId, scanId, seen: revisions, withheld, writeRows }, signal)
      return {
        notices: noticesOf(news),
        acknowledge: async () => {
          await news.acknowledge()
          metrics.count('AuditEntries', news.entries)
          metrics.count('AuditFindings', news.findings.filter(alarms).length)
          metrics.count('AuditWatchMatches', news.matches.length)
        },
      }
    },
  }
}

function numbersOf(records: readonly ObservedRecord[]): number[] {
  return records.flatMap(({ record }) => {
    const number: unknown = isPlainObject(record) ? record.revision : null
    return typeof number === 'number' ? [number] : []
  })
}

/** A finding of the lowest severity is said and kept, and nobody is woken for it. */
function alarms({ severity }: Finding): boolean {
  return severity !== 'info'
}

/** What to say of a scan: each finding and each match of its own, and of the time before the first scan that there are some. */
function noticesOf({ findings, matches, pastMatches }: AuditNews): Notice[] {
  return distinct([
    // The newest first, since not all of a long history can be told.
    ...findings.toReversed().map(findingNotice),
    ...matches.toReversed().map(matchNotice),
    ...pastMatches.slice(0, 1).map(() => pastChanges),
  ])
}

const pastGaps = pastNotice('history_gap', 'Revision numbers of that time are missing')
const pastChanges = pastNotice('past_changes', 'Watch rules match changes of that time')

/** How many there are is not said: what is told again, after a death or in parts, must read the same. */
function pastNotice(code: string, what: string): Notice {
  const message = `${what}; "platform-sync audit report" shows them.`
  return { severity: 'info', code, about: 'the time before the first sync', message }
}

/** Two items that left one list say the same. */
function distinct(notices: Notice[]): Notice[] {
  return [...new Map(notices.map((notice) => [`${notice.code} ${notice.about}`, notice])).values()]
}

function findingNotice({ kind, severity, revision, revisionTo, place, message }: Finding): Notice {
  if (kind === 'history_gap') return pastGaps
  return {
    severity,
    code: kind,
    about: revision === null ? (place ?? 'audit trail') : revisionsText(revision, revisionTo ?? revision),
    message,
  }
}

function matchNotice({ revision, path, kind, rule, severity, why, user }: WatchedSetting): Notice {
  return {
    severity,
    code: rule,
    about: `revision ${revision}: ${path} ${kind} by ${user ?? 'unknown'}`,
    message: why,
  }
}

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
          metrics.count('AuditWatchMatches', news.isFirstLook ? 0 : news.matches.length)
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

/** What to say of a scan: each finding and each match of its own, and of the time before the first scan how much there is. */
function noticesOf({ findings, matches, isFirstLook }: AuditNews): Notice[] {
  const isHistory = ({ kind }: Finding) => kind === 'history_gap'
  const past = { findings: findings.filter(isHistory).length, matches: isFirstLook ? matches : [] }
  return distinct([
    // The newest first, since not all of a long history can be told.
    ...findings
      .filter((finding) => !isHistory(finding))
      .toReversed()
      .map(findingNotice),
    ...(isFirstLook ? [] : matches.toReversed().map(matchNotice)),
    ...historyNotice(past),
  ])
}

/** Two items that left one list say the same. */
function distinct(notices: Notice[]): Notice[] {
  return [...new Map(notices.map((notice) => [`${notice.code} ${notice.about}`, notice])).values()]
}

function findingNotice({ kind, severity, revision, revisionTo, place, message }: Finding): Notice {
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

function historyNotice({ findings, matches }: { findings: number; matches: readonly WatchedSetting[] }): Notice[] {
  const critical = matches.filter(({ severity }) => severity === 'critical').length
  const parts = [
    ...(matches.length > 0 ? [`${matches.length} changes that watch rules match, ${critical} of them critical`] : []),
    ...(findings > 0 ? [`${findings} gaps in the numbers of revisions`] : []),
  ]
  if (parts.length === 0) return []
  const message = `${parts.join(', and ')}. "platform-sync audit report" shows them.`
  return [{ severity: 'info', code: 'history', about: 'the time before the first sync', message }]
}

import type { Metrics } from '../core/metrics.ts'
import type { Notice } from '../sync/checkpoint.ts'
import type { StreamObserver } from '../sync/ports.ts'
import type { AuditHook, WatchedSetting } from './hook.ts'
import { type Finding, revisionsText } from './trail/finding.ts'

/** Lets the audit trail observe the stream of revisions, and measures what it recorded. */
export function createAuditObserver(hook: AuditHook, metrics: Metrics): StreamObserver {
  return {
    flushed: (records, { runId, scanId }, signal) => hook.afterFlush(records, { runId, scanId }, signal),
    completed: async ({ runId, scanId, seen, writeRows }, signal) => {
      const revisions = new Set(Array.from(seen(), Number))
      const news = await hook.onComplete({ runId, scanId, seen: revisions, writeRows }, signal)
      return {
        // The newest first, since not all of a long history can be told.
        notices: distinct([
          ...news.findings.toReversed().map(findingNotice),
          ...news.matches.toReversed().map(matchNotice),
        ]),
        acknowledge: async () => {
          await news.acknowledge()
          metrics.count('AuditEntries', news.entries)
          metrics.count('AuditFindings', news.findings.length)
          metrics.count('AuditWatchMatches', news.matches.length)
        },
      }
    },
  }
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

import type { Metrics } from '../core/metrics.ts'
import type { Remark } from '../sync/checkpoint.ts'
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
        remarks: distinct([
          ...news.findings.toReversed().map(findingRemark),
          ...news.matches.toReversed().map(matchRemark),
        ]),
        settle: async () => {
          await news.settle()
          metrics.count('AuditEntries', news.entries)
          metrics.count('AuditFindings', news.findings.length)
          metrics.count('AuditWatchMatches', news.matches.length)
        },
      }
    },
  }
}

/** Two items that left one list say the same. */
function distinct(remarks: Remark[]): Remark[] {
  return [...new Map(remarks.map((remark) => [`${remark.code} ${remark.about}`, remark])).values()]
}

function findingRemark({ kind, severity, revision, revisionTo, place, message }: Finding): Remark {
  return {
    severity,
    code: kind,
    about: revision === null ? (place ?? 'audit trail') : revisionsText(revision, revisionTo ?? revision),
    message,
  }
}

function matchRemark({ revision, path, kind, rule, severity, why, user }: WatchedSetting): Remark {
  return {
    severity,
    code: rule,
    about: `revision ${revision}: ${path} ${kind} by ${user ?? 'unknown'}`,
    message: why,
  }
}

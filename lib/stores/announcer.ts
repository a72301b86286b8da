import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { RetryableError } from '../core/errors.ts'
import type { Manifest, RunRecord } from '../publish/manifest.ts'
import type { Announcer } from '../publish/ports.ts'
import { scheduleOf } from '../sync/scheduled-run.ts'
import { callAws } from './aws-errors.ts'
import { type AwsTarget, clientSettings } from './clients.ts'
import { manifestKey, reportKey } from './lake-paths.ts'

/** Source and kind of the event, for rules that match it. */
const runCompleted = { source: 'agent-platform-sync', detailType: 'sync.run.completed' } as const

/** Tells nobody. */
export const silentAnnouncer: Announcer = { announce: async () => {} }

/** A client for EventBridge. */
export function createEventBridge(target: AwsTarget): EventBridgeClient {
  return new EventBridgeClient(clientSettings(target))
}

/** `reporting`: the schedules whose runs end with a page. */
type AnnouncerDeps = { eventBridge: EventBridgeClient; bus: string; bucket: string; reporting?: readonly string[] }

/** Puts one event per run on an event bus: how each stream ended, its counts, where the manifest lies, and where its page will. */
export function createAnnouncer({ eventBridge, bus, bucket, reporting = [] }: AnnouncerDeps): Announcer {
  return {
    announce: (record, manifest) =>
      callAws({ what: `announce run ${record.runId} on the event bus ${bus}` }, async () => {
        const Detail = JSON.stringify({ ...detailOf(record, manifest, bucket), reportKey: reportOf(record, reporting) })
        const { source: Source, detailType: DetailType } = runCompleted
        const entry = { EventBusName: bus, Source, DetailType, Detail, Time: new Date(record.finishedAt) }
        const { FailedEntryCount, Entries } = await eventBridge.send(new PutEventsCommand({ Entries: [entry] }))
        if (FailedEntryCount) throw notTaken(bus, Entries?.[0]?.ErrorCode)
      }),
  }
}

function detailOf(record: RunRecord, { scans }: Manifest, bucket: string) {
  return {
    ...record,
    scheduledAt: new Date(record.scheduledAt).toISOString(),
    finishedAt: new Date(record.finishedAt).toISOString(),
    bucket,
    // A run that changed nothing has no manifest.
    manifestKey: scans.length > 0 ? manifestKey(record.runId) : null,
  }
}

/** The page is written after the event is sent: its place is known before. Null for a run that ends with none. */
function reportOf(record: RunRecord, reporting: readonly string[]): string | null {
  const schedule = scheduleOf(record)
  return schedule !== null && reporting.includes(schedule) ? reportKey(record.scheduledAt) : null
}

/** A batch of events answers 200 even when an entry was not taken. */
function notTaken(bus: string, code = 'no code') {
  return new RetryableError(
    `The event bus ${bus} did not take the event (${code}). The next try of publish-run sends it.`,
    {
      code: 'storage_unavailable',
    },
  )
}

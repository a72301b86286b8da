/** Names of the metrics this project emits; alarms and the dashboard are built from the same list. */
export type MetricName =
  | 'ApiCalls'
  | 'ApiRetries'
  | 'AuditDigests'
  | 'AuditEntries'
  | 'AuditFindings'
  | 'AuditWatchMatches'
  | 'RecordsReceived'
  | 'RecordsChanged'
  | 'RecordsDeleted'
  | 'RecordsQuarantined'
  | 'FieldsDrifted'
  | 'FieldsInvalid'
  | 'ScanSeconds'
  | 'StreamComplete'
  | 'StreamFailed'
  | 'StreamSuspect'
  | 'RunComplete'
  | 'LimitsApplied'
  | 'LimitsFailed'
  | 'LimitsSuperseded'
  | 'LimitMessagesFailed'
  | 'InboxFilesWaiting'
  | 'PolicyPlansWaiting'
  | 'PolicyFailed'
  | 'HookEventsReceived'
  | 'HookEventsRefused'
  | 'HookEventsStored'
  | 'HookEventsRepeated'
  | 'HookMessagesFailed'

/** Where measurements go: CloudWatch EMF in Lambda, memory in tests. */
export type Metrics = { count(name: MetricName, value: number, dimensions?: Record<string, string>): void }

/** Swallows everything. */
export const noMetrics: Metrics = { count() {} }

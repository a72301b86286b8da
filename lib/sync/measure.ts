import type { Metrics } from '../core/metrics.ts'
import type { RunRecord } from '../publish/manifest.ts'
import type { Attempt, StreamResult } from './attempt.ts'

/**
 * Measures what an attempt came to, and hands the result on. Counts are those of a whole scan and are sent once, when it
 * ends: an attempt that pauses measures nothing, so that no record is counted twice.
 */
export function measureAttempt(result: StreamResult, { deps, scan }: Attempt): StreamResult {
  const { stream, status, counts } = result
  const count: Metrics['count'] = (name, value) => deps.metrics.count(name, value, { stream })
  if (status === 'failed') count('StreamFailed', 1)
  if ((status !== 'complete' && status !== 'suspect') || counts === null) return result
  count(status === 'complete' ? 'StreamComplete' : 'StreamSuspect', 1)
  count('ApiCalls', counts.apiCalls)
  count('ApiRetries', Math.max(0, counts.apiCalls - counts.pages))
  count('RecordsReceived', counts.received)
  count('RecordsChanged', counts.inserted + counts.updated)
  count('RecordsDeleted', counts.deleted)
  count('RecordsQuarantined', counts.quarantined)
  count('FieldsDrifted', counts.drifted)
  count('ScanSeconds', (deps.clock.now() - scan.startedAt) / 1000)
  return result
}

/** Measures how a run ended: 1 when every stream is complete, else 0. */
export function measureRun({ status }: RunRecord, schedule: string, metrics: Metrics): void {
  metrics.count('RunComplete', status === 'complete' ? 1 : 0, { schedule })
}

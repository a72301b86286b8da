import type { Metrics } from '../core/metrics.ts'
import { withoutShard } from '../streams/shards.ts'
import type { ScanContext, StreamResult } from './context.ts'

/**
 * Measures what an attempt came to, and hands the result on. Counts are those of a whole scan and are sent once, when it
 * ends: an attempt that pauses measures nothing, so that no record is counted twice.
 */
export function emitMetrics(result: StreamResult, { deps, scan }: ScanContext): StreamResult {
  const { status, counts } = result
  const stream = withoutShard(result.stream)
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
  count(
    'FieldsInvalid',
    Object.values(counts.invalid).reduce((sum, records) => sum + records, 0),
  )
  count('ScanSeconds', (deps.clock.now() - scan.startedAt) / 1000)
  return result
}

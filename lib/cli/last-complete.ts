import type { App } from '../compose/app.ts'
import { manifestPrefix } from '../stores/lake-paths.ts'
import type { Checkpoint } from '../sync/checkpoint.ts'

type Stores = Pick<App, 'lake' | 'objects'>

/**
 * When the last complete scan of a stream began, unix ms; null when there was none. The last scan may be another one: a
 * suspect one withheld what it found gone, and an approval of deletes read no list. Then the manifests know, the newest first.
 */
export async function lastCompleteScan(
  { stream, lastScan }: Checkpoint,
  { lake, objects }: Stores,
): Promise<number | null> {
  if (lastScan === null) return null
  if (lastScan.status === 'complete' && lastScan.counts.pages > 0) return lastScan.startedAt
  const keys = await objects.list(`${manifestPrefix}run=`)
  const runIds = keys.flatMap((key) => key.match(/run=([^/]+)\.json$/)?.[1] ?? [])
  for (const runId of runIds.sort().reverse()) {
    const manifest = await lake.readManifest(runId)
    const scan = manifest?.scans.find(
      ({ stream: name, status, counts }) => name === stream && status === 'complete' && counts.pages > 0,
    )
    if (scan) return Date.parse(scan.startedAt)
  }
  return null
}

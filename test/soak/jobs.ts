import { writeDailyDigest } from '../../lib/audit/verify/daily-digest.ts'
import { composeAudit } from '../../lib/compose/audit.ts'
import { composeStoreHooks } from '../../lib/compose/hooks-store.ts'
import { composeApply } from '../../lib/compose/limits-apply.ts'
import { composeImport } from '../../lib/compose/limits-import.ts'
import { composePolicy } from '../../lib/compose/limits-policy.ts'
import { composeRun, type RunRoot } from '../../lib/compose/run.ts'
import { type Deadline, noDeadline } from '../../lib/core/deadline.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { createPatience } from '../../lib/core/patience.ts'
import { storeBatch } from '../../lib/hooks/collector/store.ts'
import { applyBatch } from '../../lib/limits/apply/apply-batch.ts'
import { type DroppedFile, importFile } from '../../lib/limits/intake/import-file.ts'
import { applyTriggered } from '../../lib/limits/policy/triggered.ts'
import type { PolledRecord } from '../../lib/local/poller.ts'
import { finishRun } from '../../lib/publish/finish-run.ts'
import { failureOf } from '../../lib/publish/steps.ts'
import { unitNamed } from '../../lib/streams/index.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import type { Run, StreamResult } from '../../lib/sync/context.ts'
import { driveStream } from '../../lib/sync/drive-stream.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'
import type { Composing } from './worker.ts'

/** What a run of streams came to; `failed` when it could not be published. */
export type RunEnd = { results: StreamResult[]; failed: unknown }

/** How a run is driven: which streams, and how long one attempt may take (for ever by default). */
export type Running = {
  run: Run
  streams: readonly string[]
  attemptMs: number | null
  /** How the state machine waits, in time that passes outside of any worker. */
  wait: (ms: number) => Promise<void>
}

/** Longer than any night waits: the state machine is as patient. */
const patienceMs = 12 * 3_600_000

/** Reads streams one after another, each until it is done, and publishes: what the state machine does with functions. */
export async function readAndPublish(
  { run, streams, attemptMs, wait }: Running,
  { variables, runtime }: Composing,
): Promise<RunEnd> {
  const root = composeRun(variables, runtime)
  const units = streams.map(unitNamed)
  const lasting = await root.syncDeps(noDeadline)
  const results: StreamResult[] = []
  for (const stream of units) {
    const attempt = async () =>
      syncStream(stream, run, attemptMs === null ? lasting : await root.syncDeps(until(root, attemptMs)))
    results.push(await driveStream(stream, run, { attempt, patience: createPatience(patienceMs), wait }))
  }
  const failed = await publish(run, { units, results, root })
  return { results, failed }
}

type Reading = { units: readonly Stream[]; results: StreamResult[]; root: RunRoot }

async function publish(run: Run, { units, results, root }: Reading): Promise<unknown> {
  try {
    const { record } = await finishRun(run, { streams: units, results }, root.finishDeps())
    return record.behind ? new Error(failureOf(record) ?? 'tables are behind') : null
  } catch (error) {
    return error
  }
}

function until({ clock }: RunRoot, ms: number): Deadline {
  const end = clock.now() + ms
  return { remainingMs: () => end - clock.now() }
}

/** Turns a dropped file into intents. */
export async function importDropped(file: DroppedFile, { variables, runtime }: Composing): Promise<string> {
  return (await importFile(file, composeImport(variables, runtime))).status
}

/** Applies a batch of the limits queue. */
export async function applyRecords(records: PolledRecord[], { variables, runtime }: Composing) {
  const { platform, applyDeps } = composeApply(variables, runtime)
  return await applyBatch(records, applyDeps(platform(), noDeadline))
}

/** Stores a batch of hook events. */
export async function storeRecords(records: PolledRecord[], { variables, runtime }: Composing) {
  return await storeBatch(records, await composeStoreHooks(variables, runtime).storeDeps())
}

/** Keeps the policy, as after each run. */
export async function keepPolicy({ variables, runtime }: Composing): Promise<string> {
  return (await applyTriggered(null, composePolicy(variables, runtime).policyDeps())).status
}

/** Verifies the audit trail and signs a digest. */
export async function writeDigest({ variables, runtime }: Composing) {
  const { audit, clock } = composeAudit(variables, runtime)
  if (!audit) throw new Error('the soak has an audit bucket, and found none')
  return await writeDailyDigest(audit, { clock, metrics: noMetrics, signal: new AbortController().signal })
}

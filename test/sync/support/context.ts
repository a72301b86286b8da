import { noDeadline } from '../../../lib/core/deadline.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { createPatience } from '../../../lib/core/patience.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { Counts } from '../../../lib/sync/checkpoint.ts'
import { defaultSettings, type ScanContext, type SyncDeps } from '../../../lib/sync/context.ts'
import { watchLease } from '../../../lib/sync/lease.ts'
import { createMemoryCheckpoints } from '../../support/memory/checkpoints.ts'
import { createMemoryIndexStore } from '../../support/memory/index-store.ts'
import { createMemoryLake } from '../../support/memory/lake.ts'
import { createMemoryRecords } from '../../support/memory/records.ts'
import { manualClock } from './clock.ts'
import { listOf } from './source.ts'

/** What one owner of a scan's state needs around it, over memory: the first attempt at a scan of users. */
export async function contextOf(overrides: Partial<SyncDeps> = {}) {
  const clock = manualClock()
  const stores = {
    checkpoints: createMemoryCheckpoints(),
    records: createMemoryRecords(),
    lake: createMemoryLake(),
    index: createMemoryIndexStore(),
  }
  const deps: SyncDeps = {
    ...stores,
    source: listOf([]),
    observers: {},
    redact: (record) => record,
    digestKey: (purpose) => Buffer.from(purpose),
    clock,
    deadline: noDeadline,
    patience: createPatience(60_000),
    log: silentLog,
    metrics: noMetrics,
    newOwner: () => 'worker',
    settings: defaultSettings,
    ...overrides,
  }
  const terms = { owner: 'worker', expiresAt: clock.now() + 60_000 }
  const acquired = await stores.checkpoints.acquire(organizationUsers.name, { ...terms, now: clock.now() })
  if (!('checkpoint' in acquired)) throw new Error('the lease of a new stream is free')
  const context: ScanContext = {
    stream: organizationUsers,
    run: { runId: 'run', scheduledAt: 0 },
    scan: {
      scanId: 'run-1',
      runId: 'run',
      firstFence: 1,
      startedAt: clock.now(),
      approval: false,
      takenUp: { runId: 'run', counts: Counts.parse({}) },
    },
    window: { since: null, until: clock.now() },
    fence: acquired.checkpoint.fence,
    lease: watchLease(clock, { ...terms, ttlMs: 60_000 }),
    observer: undefined,
    deps,
  }
  return { context, checkpoint: acquired.checkpoint, clock, ...stores }
}

import type { PublishLease } from '../../lib/publish/ports.ts'
import { Counts, type Scan, type ScanSummary } from '../../lib/sync/checkpoint.ts'
import type { PartPath } from '../../lib/sync/ports.ts'

/** A signal that never aborts. */
export const untroubled = new AbortController().signal

/** The right to publish that nobody takes over. */
export const undisturbed: PublishLease = { signal: untroubled, stillMine: async () => {} }

/** A scan that ended. */
export function summaryOf(values: Partial<ScanSummary> = {}): ScanSummary {
  return {
    stream: 'sessions',
    scanId: 'scan-1',
    runId: 'run-1',
    startedAt: Date.UTC(2026, 2, 1, 0, 30),
    completedAt: Date.UTC(2026, 2, 1, 0, 40),
    status: 'complete',
    reason: null,
    withheldDeletes: 0,
    counts: Counts.parse({ received: 3, inserted: 3 }),
    records: 3,
    filesKey: 'index/sessions/scan=scan-1/files-2.json',
    indexKey: 'index/sessions/index-scan-1-2.bin.zst',
    replacedIndexKey: null,
    fences: { first: 1, last: 2 },
    ...values,
  }
}

/** Where a flush's objects lie. */
export function pathOf(values: Partial<PartPath> = {}): PartPath {
  return {
    stream: 'sessions',
    scanId: 'scan-1',
    runId: 'run-1',
    startedAt: Date.UTC(2026, 2, 1, 0, 30),
    part: 1,
    fence: 1,
    ...values,
  }
}

/** A scan in progress. */
export function scanOf(scanId: string): Scan {
  return {
    scanId,
    runId: 'run',
    firstFence: 1,
    startedAt: 1,
    position: { at: 'page', token: 'p1' },
    approval: false,
    pass: 1,
    restarts: { runId: 'run', count: 0 },
    barrenPages: 0,
    unkeyed: 0,
    segments: [],
    counts: Counts.parse({}),
  }
}

/** All that comes, in its order. */
export async function allOf<T>(coming: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of coming) all.push(each)
  return all
}

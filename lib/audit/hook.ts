import type { Clock } from '../core/clock.ts'
import type { Table } from '../streams/table.ts'
import type { Digester } from './digest.ts'
import { Finding } from './finding.ts'
import { readHistory, type Step } from './history.ts'
import type { IndexCache } from './index-cache.ts'
import { range, readAhead } from './read-ahead.ts'
import type { Recorder, ScanIds, SeenRevision } from './recorder.ts'
import { unseal } from './sealed.ts'
import { auditFindings, settingChanges } from './tables.ts'
import type { Trail } from './trail.ts'
import type { Watch } from './watch.ts'

/** What happened to the trail in a scan, for the summary of the run, metrics and events. */
export type AuditNews = {
  entries: number
  findings: Finding[]
  /** Changes that watch rules match, gravest first. */
  matches: { revision: number; path: string; kind: string; rule: string; severity: string; why: string; user: string | null }[]
}

/** Writes rows of a table of the audit trail into the scan's files. Rows that are written twice are one row, by their key. */
export type WriteRows = (table: Table, records: readonly unknown[]) => Promise<void>

/** The audit trail's part in a scan of the enterprise settings' history. Everything is safe to repeat. */
export type AuditHook = {
  /** Before a checkpoint moves: what was read is recorded. */
  afterFlush(revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void>
  /** Before a scan completes: findings, the rows for the warehouse, and what deserves attention. */
  onComplete(
    scan: ScanIds & { seen: ReadonlySet<number>; writeRows: WriteRows },
    signal: AbortSignal,
  ): Promise<AuditNews & { /** After the scan is complete. */ settle(): Promise<void> }>
}

type Deps = { trail: Trail; index: IndexCache; recorder: Recorder; digester: Digester; watch: Watch; clock: Clock }

const rowsAtOnce = 2_000
const readsAtOnce = 16
const matchesKept = 100

/** The hook over a trail. */
export const createAuditHook = ({ trail, index, recorder, digester, watch }: Deps): AuditHook => ({
  afterFlush: (revisions, scan, signal) => recorder.record(revisions, scan, signal),
  onComplete: async ({ seen, writeRows, ...scan }, signal) => {
    await recorder.compare(seen, scan, signal)
    await digester.writeIfDue(signal)
    const { state } = await trail.settled(signal)
    const { marks, reported } = state
    const findings: Finding[] = []
    const sequences = range(reported.findings + 1, marks.findings.sequence)
    for await (const { value: bytes } of readAhead(sequences, readsAtOnce, (at) => trail.read('findings', at))) {
      const object = bytes && unseal(bytes)
      if (object) findings.push(Finding.parse(object.value))
    }
    if (findings.length > 0) await writeRows(auditFindings as Table, findings)
    const places = placesOf(await index.at(marks))
    const steps = readHistory((at) => trail.read('entries', at), places, {
      watch,
      only: (after, before) => Math.max(after.sequence, before?.sequence ?? 0) > reported.entries,
    })
    const matches = await writeChanges(steps, writeRows)
    const settle = () =>
      trail.markReported({ entries: marks.entries.sequence, findings: marks.findings.sequence }, signal)
    return { entries: marks.entries.sequence - reported.entries, findings, matches, settle }
  },
})

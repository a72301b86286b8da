import { auditFindings, type SettingChangeRow, settingChanges } from '../streams/audit-tables.ts'
import type { Table } from '../streams/table.ts'
import type { ScanIds } from '../sync/ports.ts'
import type { Change } from './changes/diff.ts'
import { readHistory, type Step, userOf, type WatchedChange } from './changes/history.ts'
import { changeRowsOf } from './changes/tables.ts'
import type { Watch, WatchMatch } from './changes/watch.ts'
import type { Digester } from './trail/digest.ts'
import { Finding, type Severity } from './trail/finding.ts'
import type { IndexCache } from './trail/index-cache.ts'
import { range, readAhead } from './trail/read-ahead.ts'
import type { Recorder, SeenRevision } from './trail/recorder.ts'
import { placesOf } from './trail/revision-index.ts'
import { unseal } from './trail/sealed.ts'
import type { Trail } from './trail/trail.ts'

/** What happened to the trail in a scan, for the summary of the run, metrics and events. */
export type AuditNews = {
  entries: number
  findings: Finding[]
  /** Changes that watch rules match, in the order of revisions. */
  matches: WatchedSetting[]
}

/** A change that deserves attention. Holds no value of a setting. */
export type WatchedSetting = {
  revision: number
  path: string
  kind: Change['kind']
  rule: string
  severity: Severity
  why: string
  /** E-mail address or id of who made the change. */
  user: string | null
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
  ): Promise<AuditNews & { /** After the scan is complete. */ acknowledge(): Promise<void> }>
}

type Deps = { trail: Trail; index: IndexCache; recorder: Recorder; digester: Digester; watch: Watch }

const rowsAtOnce = 2_000
const readsAtOnce = 16

/** The hook over a trail. */
export function createAuditHook({ trail, index, recorder, digester, watch }: Deps): AuditHook {
  return {
    afterFlush: (revisions, scan, signal) => recorder.record(revisions, scan, signal),
    onComplete: async ({ seen, writeRows, ...scan }, signal) => {
      await recorder.compare(seen, scan, signal)
      await digester.writeIfDue(signal)
      const { marks, reported } = (await trail.settled(signal)).state
      const findings = await readFindings(trail, reported.findings, marks.findings.sequence)
      if (findings.length > 0) await writeRows(auditFindings as Table, findings)
      const steps = readHistory((at) => trail.read('entries', at), placesOf(await index.at(marks)), {
        watch,
        only: (after, before) => Math.max(after.sequence, before?.sequence ?? 0) > reported.entries,
      })
      const matches = await writeChanges(steps, writeRows)
      const acknowledge = () =>
        trail.markReported({ entries: marks.entries.sequence, findings: marks.findings.sequence }, signal)
      return { entries: marks.entries.sequence - reported.entries, findings, matches, acknowledge }
    },
  }
}

async function readFindings(trail: Trail, after: number, last: number): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const { value: bytes } of readAhead(range(after + 1, last), readsAtOnce, (at) =>
    trail.read('findings', at),
  )) {
    const object = bytes && unseal(bytes)
    if (object) findings.push(Finding.parse(object.value))
  }
  return findings
}

/** Writes what changed, a bounded number of rows at a time; returns what deserves attention. */
async function writeChanges(steps: AsyncIterable<Step>, writeRows: WriteRows): Promise<WatchedSetting[]> {
  const matches: WatchedSetting[] = []
  let rows: SettingChangeRow[] = []
  for await (const step of steps) {
    rows.push(...changeRowsOf(step))
    for (const change of step.changes) {
      for (const match of change.matches) matches.push(watchedSetting(step, change, match))
    }
    if (rows.length < rowsAtOnce) continue
    await writeRows(settingChanges as Table, rows)
    rows = []
  }
  if (rows.length > 0) await writeRows(settingChanges as Table, rows)
  return matches
}

function watchedSetting({ entry }: Step, { path, kind }: WatchedChange, match: WatchMatch): WatchedSetting {
  const { email, id } = userOf(entry)
  return {
    revision: entry.revision,
    path,
    kind,
    rule: match.id,
    severity: match.severity,
    why: match.why,
    user: email ?? id,
  }
}

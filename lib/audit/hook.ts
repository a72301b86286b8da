import { canonicalJson } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { auditFindings, type SettingChangeRow, settingChanges } from '../streams/audit-tables.ts'
import type { Table } from '../streams/table.ts'
import type { ScanIds } from '../sync/ports.ts'
import type { SettingChange } from './changes/diff.ts'
import { type RevisionDiff, readHistory, userOf, type WatchedChange } from './changes/history.ts'
import { mostSevere, type Watch, type WatchMatch } from './changes/watch.ts'
import type { Digester } from './trail/digest.ts'
import { type Finding, readFindings, type Severity } from './trail/finding.ts'
import { entriesOfFirstLook } from './trail/first-look.ts'
import type { IndexCache } from './trail/index-cache.ts'
import type { Recorder, SeenRevision } from './trail/recorder.ts'
import { entryRefsOf } from './trail/revision-index.ts'
import type { Trail } from './trail/trail.ts'

/** News of the trail after a scan, for the summary of the run, metrics and events. */
export type AuditNews = {
  entries: number
  findings: Finding[]
  /** Changes since the first look at the list that watch rules match, in the order of revisions. */
  matches: WatchedSetting[]
  /** The same of changes that the first look brought: they are history. */
  pastMatches: WatchedSetting[]
}

/** A change that deserves attention. Holds no value of a setting. */
export type WatchedSetting = {
  revision: number
  /** The later of the two entries that were compared. */
  sequence: number
  path: string
  kind: SettingChange['kind']
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
  /** Records what was read, before a checkpoint moves past it. */
  afterFlush(revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void>
  /** Writes findings and the rows for the warehouse, before a scan completes, and tells what deserves attention. */
  onComplete(
    scan: SeenList,
    signal: AbortSignal,
  ): Promise<AuditNews & { /** After the scan is complete. */ acknowledge(): Promise<void> }>
}

/** The numbers that a list showed, and why what it lacks can't be believed (null: it can). */
export type SeenList = ScanIds & { seen: ReadonlySet<number>; withheld: string | null; writeRows: WriteRows }

type Deps = { trail: Trail; index: IndexCache; recorder: Recorder; digester: Digester; watch: Watch }

const rowsAtOnce = 2_000

/** The hook over a trail. */
export function createAuditHook({ trail, index, recorder, digester, watch }: Deps): AuditHook {
  return {
    afterFlush: (revisions, scan, signal) => recorder.record(revisions, scan, signal),
    onComplete: async ({ seen, withheld, writeRows, ...scan }, signal) => {
      if (withheld === null) await recorder.compare(seen, scan, signal)
      else await recorder.recordSuspect(withheld, scan, signal)
      await digester.writeIfDue(signal)
      const { heads, reported } = (await trail.recoverHead(signal)).state
      const unreported = { first: reported.findings + 1, last: heads.findings.sequence }
      const findings: Finding[] = []
      for await (const each of readFindings((at) => trail.read('findings', at), unreported)) findings.push(each)
      if (findings.length > 0) await writeRows(auditFindings as Table, findings)
      const diffs = readHistory((at) => trail.read('entries', at), entryRefsOf(await index.at(heads)), {
        watch,
        only: (after, before) => Math.max(after.sequence, before?.sequence ?? 0) > reported.entries,
      })
      const matches = await writeChanges(diffs, writeRows)
      const oldEntries = matches.length > 0 ? await entriesOfFirstLook(trail, heads) : 0
      const isPast = ({ sequence }: WatchedSetting) => sequence <= oldEntries
      const acknowledge = () =>
        trail.markReported({ entries: heads.entries.sequence, findings: heads.findings.sequence }, signal)
      const entries = heads.entries.sequence - reported.entries
      const [past, news] = [matches.filter(isPast), matches.filter((match) => !isPast(match))]
      return { entries, findings, matches: news, pastMatches: past, acknowledge }
    },
  }
}

/** Writes what changed, a bounded number of rows at a time; returns what deserves attention. */
async function writeChanges(diffs: AsyncIterable<RevisionDiff>, writeRows: WriteRows): Promise<WatchedSetting[]> {
  const matches: WatchedSetting[] = []
  let rows: SettingChangeRow[] = []
  for await (const diff of diffs) {
    rows.push(...rowsOf(diff))
    for (const change of diff.changes) {
      for (const match of change.matches) matches.push(watchedSetting(diff, change, match))
    }
    if (rows.length < rowsAtOnce) continue
    await writeRows(settingChanges as Table, rows)
    rows = []
  }
  if (rows.length > 0) await writeRows(settingChanges as Table, rows)
  return matches
}

/** The rows of a revision in the warehouse, one per setting that differs. */
function rowsOf({ entry, previous, changes }: RevisionDiff): SettingChangeRow[] {
  const { id, email, name } = userOf(entry)
  return changes.map(({ path, kind, before, after, secret, matches }, at) => ({
    revision: entry.revision,
    entrySequence: entry.sequence,
    previousRevision: previous?.revision ?? null,
    previousEntrySequence: previous?.sequence ?? 0,
    position: at + 1,
    path,
    kind,
    before: jsonText(before),
    after: jsonText(after),
    secret,
    userId: id,
    userEmail: email,
    userName: name,
    updatedAt: typeof entry.updatedAt === 'string' ? entry.updatedAt : null,
    severity: mostSevere(matches.map(({ severity }) => severity)),
    rules: matches.length === 0 ? null : matches.map(({ id }) => id).join(','),
    why: matches.length === 0 ? null : matches.map(({ why }) => why).join(' '),
  }))
}

function jsonText(value: Json | undefined) {
  return value === undefined ? null : canonicalJson(value)
}

function watchedSetting(
  { entry, previous }: RevisionDiff,
  { path, kind }: WatchedChange,
  match: WatchMatch,
): WatchedSetting {
  const { email, id } = userOf(entry)
  return {
    revision: entry.revision,
    sequence: Math.max(entry.sequence, previous?.sequence ?? 0),
    path,
    kind,
    rule: match.id,
    severity: match.severity,
    why: match.why,
    user: email ?? id,
  }
}

import { isPlainObject } from '../../core/canonical-json.ts'
import type { Clock } from '../../core/clock.ts'
import { contentHash } from '../../core/hash.ts'
import type { Json } from '../../core/json.ts'
import type { ScanIds } from '../../sync/ports.ts'
import { planAppend } from './append-plan.ts'
import { compareHistory, gapFindings, missingRevisions } from './compare.ts'
import { cutBelow } from './depth.ts'
import { draftEntry, type EntryDraft, equalButForSecrets, type Revision, readEntry, revisionOf } from './entry.ts'
import { draftFinding, type FindingDraft, type ObservedIn } from './finding.ts'
import { entriesOfFirstLook } from './first-look.ts'
import type { ChainHeads } from './head.ts'
import type { IndexCache } from './index-cache.ts'
import { packedBytesInHead } from './pending-append.ts'
import type { RecordedRevision, RevisionIndex } from './revision-index.ts'
import type { Trail } from './trail.ts'

/** A redacted revision with its content hash, as the engine hands it over. */
export type SeenRevision = { hash: string; record: Json }

/**
 * Writes revisions into the trail. Both calls are safe to repeat from any point and to run at the same time as others:
 * what is recorded already is not recorded again.
 */
export type Recorder = {
  /** Records those that are new, and those whose content differs from what was recorded, with a finding. */
  record(revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void>
  /** Writes findings on what a full list of the platform's revisions lacks. */
  compare(seen: ReadonlySet<number>, scan: ScanIds, signal: AbortSignal): Promise<void>
  /** Writes one finding on a list that is not to be believed, and says nothing of what it lacks. */
  recordSuspect(reason: string, scan: ScanIds, signal: AbortSignal): Promise<void>
}

type Deps = {
  trail: Trail
  index: IndexCache
  clock: Clock
  /** The name of the redaction key (see `redactionKeyOf`). */
  redactionKey: string
  /** Redacts a revision as the engine did before it handed it over. */
  redact: (revision: Json) => Json
}

/** Bounds of one append: it is stored in a moment, and mostly fits into the head, packed. */
const entriesAtOnce = 100
const charactersAtOnce = packedBytesInHead * 5

/** A recorder over a trail. */
export function createRecorder(deps: Deps): Recorder {
  const { trail, index, clock, redactionKey, redact } = deps
  const observedIn = (scan: ScanIds): ObservedIn => ({ ...scan, observedAt: new Date(clock.now()).toISOString() })

  const record = async (revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const left = lastOfEach(revisions.flatMap(numbered))
    const context = { observedIn: observedIn(scan), redactionKey, redact, trail }
    while (left.length > 0) {
      let taken = 0
      await trail.append(async (heads) => {
        const { entries, findings, ...drafted } = await draftNext(await index.at(heads), left, context)
        taken = drafted.taken
        if (drafted.redacted) index.touch()
        return planAppend(heads, { entries, findings })
      }, signal)
      left.splice(0, taken)
    }
    await index.at((await trail.recoverHead(signal)).state.heads)
    await index.save(signal)
  }

  const append = async (
    draft: (heads: ChainHeads, index: RevisionIndex) => Promise<FindingDraft[]>,
    signal: AbortSignal,
  ): Promise<void> => {
    await trail.append(
      async (heads) => planAppend(heads, { findings: await draft(heads, await index.at(heads)) }),
      signal,
    )
    await index.at((await trail.recoverHead(signal)).state.heads)
    await index.save(signal)
  }

  const compare = (seen: ReadonlySet<number>, scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const observed = observedIn(scan)
    return append(async (heads, known) => {
      const missing = missingRevisions(known, { seen })
      const oldEntries = missing.length > 0 ? await entriesOfFirstLook(trail, heads) : 0
      return [...compareHistory(known, { ...observed, seen }), ...gapFindings(known, { missing, oldEntries }, observed)]
    }, signal)
  }

  const recordSuspect = (reason: string, scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const finding = suspectFinding(reason, observedIn(scan))
    return append(async (_, { suspect }) => (repeats(finding, suspect) ? [] : [finding]), signal)
  }

  return { record, compare, recordSuspect }
}

/** A revision to record unless it is recorded already. */
type RevisionToRecord = { hash: string; revision: Revision & { revision: number } }

/** Takes what has a revision number, whatever else is in it. What has none is no revision; the engine quarantines it. */
function numbered({ hash, record }: SeenRevision): RevisionToRecord[] {
  if (!isPlainObject(record)) return []
  const { revision } = record
  // A number that came as text is the same one to the engine, whose keys are texts.
  const number = typeof revision === 'string' && /^-?\d+$/.test(revision) ? Number(revision) : revision
  if (!Number.isSafeInteger(number)) return []
  const read = number === revision ? record : { ...record, revision: number }
  return [{ hash, revision: read as RevisionToRecord['revision'] }]
}

/** Sorts by number. Of several copies in one list the last counts, so that a repetition changes nothing. */
function lastOfEach(revisions: RevisionToRecord[]): RevisionToRecord[] {
  return [...new Map(revisions.map((each) => [each.revision.revision, each])).values()].sort(
    (a, b) => a.revision.revision - b.revision.revision,
  )
}

/** Entries and findings to append, the number of revisions that they take care of, and if the index was changed on the way. */
type Drafts = { entries: EntryDraft[]; findings: FindingDraft[]; taken: number; redacted: boolean }

type DraftContext = Pick<Deps, 'redactionKey' | 'redact' | 'trail'> & { observedIn: ObservedIn }

/** Drafts entries for the first of `left`, as far as they are not recorded already. */
async function draftNext(
  index: RevisionIndex,
  left: readonly RevisionToRecord[],
  context: DraftContext,
): Promise<Drafts> {
  const { observedIn, redactionKey } = context
  const drafts: Drafts = { entries: [], findings: [], taken: 0, redacted: false }
  let characters = 0
  for (const seen of left) {
    const number = seen.revision.revision
    if (drafts.entries.length === entriesAtOnce || characters > charactersAtOnce) break
    const known = index.revisions.get(number)
    const { hash, revision } = known?.contentHash === seen.hash ? seen : bounded(seen)
    const same =
      known !== undefined && (known.contentHash === hash || (await onlyRedactedAnew(revision, known, context)))
    if (same && known.contentHash !== hash) {
      index.revisions.set(number, { ...known, contentHash: hash, redactionKey })
      drafts.redacted = true
    }
    drafts.taken += 1
    if (same) continue
    if (known) drafts.findings.push(changedFinding(number, known, observedIn))
    drafts.entries.push(draftEntry(revision, { recordedAt: observedIn.observedAt, redactionKey }))
    characters += JSON.stringify(revision).length
  }
  return drafts
}

/** A revision as far as it is recorded, with the hash of that: what is nested too deep is cut off. */
function bounded({ revision }: RevisionToRecord): RevisionToRecord {
  const within = cutBelow(revision) as RevisionToRecord['revision']
  return { hash: contentHash(within), revision: within }
}

/**
 * Tells another redaction from another content: a new key changes every fingerprint, and a later release finds secrets
 * that an earlier one left, which is no change of the revision.
 */
async function onlyRedactedAnew(
  revision: Revision,
  known: RecordedRevision,
  { redactionKey, redact, trail }: DraftContext,
): Promise<boolean> {
  const entry = readEntry(await trail.read('entries', known.sequence))
  if (!entry) return false
  const recorded = redact(revisionOf(entry))
  return known.redactionKey === redactionKey
    ? contentHash(recorded) === contentHash(revision)
    : equalButForSecrets(recorded, revision)
}

function changedFinding(revision: number, { sequence }: RecordedRevision, observedIn: ObservedIn): FindingDraft {
  return draftFinding('revision_changed', observedIn, {
    revision,
    recordedAs: sequence,
    message:
      `Revision ${revision} was recorded as entry ${sequence}, and the platform now shows another content for it, which ` +
      `is recorded, too. Run "platform-sync audit show ${revision}" to see what differs.`,
  })
}

function suspectFinding(reason: string, observedIn: ObservedIn): FindingDraft {
  return draftFinding('suspect_scan', observedIn, {
    message: `The list of revisions was not compared with what is recorded, since its scan is suspect. ${reason}.`,
  })
}

/** One finding a scan, and one a day as long as a list stays as it is: a scan every 15 minutes says nothing more. */
function repeats({ scanId, observedAt, message }: FindingDraft, last: RevisionIndex['suspect']): boolean {
  if (!last) return false
  const sameDay = last.observedAt.slice(0, 10) === observedAt.slice(0, 10)
  return last.scanId === scanId || (sameDay && last.message === message)
}

import type { Clock } from '../../core/clock.ts'
import type { Json } from '../../core/json.ts'
import type { ScanIds } from '../../sync/ports.ts'
import { planAppend } from './append-plan.ts'
import { compareHistory } from './compare.ts'
import { draftEntry, type EntryDraft, equalButForSecrets, type Revision, readEntry, revisionOf } from './entry.ts'
import { draftFinding, type FindingDraft, type ObservedIn } from './finding.ts'
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
}

type Deps = {
  trail: Trail
  index: IndexCache
  clock: Clock
  /** The name of the redaction key (see `redactionKeyOf`). */
  redactionKey: string
}

/** Bounds of one append: it is stored in a moment, and mostly fits into the head, packed. */
const entriesAtOnce = 100
const charactersAtOnce = packedBytesInHead * 5

/** A recorder over a trail. */
export function createRecorder(deps: Deps): Recorder {
  const { trail, index, clock, redactionKey } = deps
  const observedIn = (scan: ScanIds): ObservedIn => ({ ...scan, observedAt: new Date(clock.now()).toISOString() })

  const record = async (revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const left = lastOfEach(revisions.flatMap(numbered))
    const context = { observedIn: observedIn(scan), redactionKey, trail }
    while (left.length > 0) {
      let taken = 0
      await trail.append(async (heads) => {
        const { entries, findings, ...drafted } = await draftNext(await index.at(heads), left, context)
        taken = drafted.taken
        if (drafted.rekeyed) index.touch()
        return planAppend(heads, { entries, findings })
      }, signal)
      left.splice(0, taken)
    }
    await index.at((await trail.recoverHead(signal)).state.heads)
    await index.save(signal)
  }

  const compare = async (seen: ReadonlySet<number>, scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const observed = observedIn(scan)
    await trail.append(async (heads) => {
      const findings = compareHistory(await index.at(heads), seen, observed)
      return planAppend(heads, { findings })
    }, signal)
    await index.at((await trail.recoverHead(signal)).state.heads)
    await index.save(signal)
  }

  return { record, compare }
}

/** A revision to record unless it is recorded already. */
type RevisionToRecord = { hash: string; revision: Revision & { revision: number } }

/** Takes what has a revision number. What has none is no revision; the engine quarantines it. */
function numbered({ hash, record }: SeenRevision): RevisionToRecord[] {
  const revision = record as Revision
  return Number.isInteger(revision.revision) ? [{ hash, revision: revision as RevisionToRecord['revision'] }] : []
}

/** Sorts by number. Of several copies in one list the last counts, so that a repetition changes nothing. */
function lastOfEach(revisions: RevisionToRecord[]): RevisionToRecord[] {
  return [...new Map(revisions.map((each) => [each.revision.revision, each])).values()].sort(
    (a, b) => a.revision.revision - b.revision.revision,
  )
}

/** Entries and findings to append, the number of revisions that they take care of, and if the index was changed on the way. */
type Drafts = { entries: EntryDraft[]; findings: FindingDraft[]; taken: number; rekeyed: boolean }

type DraftContext = { observedIn: ObservedIn; redactionKey: string; trail: Trail }

/** Drafts entries for the first of `left`, as far as they are not recorded already. */
async function draftNext(
  index: RevisionIndex,
  left: readonly RevisionToRecord[],
  context: DraftContext,
): Promise<Drafts> {
  const { observedIn, redactionKey } = context
  const drafts: Drafts = { entries: [], findings: [], taken: 0, rekeyed: false }
  let characters = 0
  for (const { hash, revision } of left) {
    const number = revision.revision
    if (drafts.entries.length === entriesAtOnce || characters > charactersAtOnce) break
    const known = index.revisions.get(number)
    const same = known !== undefined && (known.contentHash === hash || (await onlyRekeyed(revision, known, context)))
    if (same && known.contentHash !== hash) {
      index.revisions.set(number, { ...known, contentHash: hash, redactionKey })
      drafts.rekeyed = true
    }
    drafts.taken += 1
    if (same) continue
    if (known) drafts.findings.push(changedFinding(number, known, observedIn))
    drafts.entries.push(draftEntry(revision, { recordedAt: observedIn.observedAt, redactionKey }))
    characters += JSON.stringify(revision).length
  }
  return drafts
}

/** Tells another redaction key from another content: the key changes every fingerprint, which is no change of the revision. */
async function onlyRekeyed(
  revision: Revision,
  known: RecordedRevision,
  { redactionKey, trail }: DraftContext,
): Promise<boolean> {
  if (known.redactionKey === redactionKey) return false
  const entry = readEntry(await trail.read('entries', known.sequence))
  return entry ? equalButForSecrets(revisionOf(entry), revision) : false
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

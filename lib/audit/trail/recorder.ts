import type { Clock } from '../../core/clock.ts'
import type { Json } from '../../core/json.ts'
import type { ScanIds } from '../../sync/ports.ts'
import { chainBatch } from './chain.ts'
import { compareHistory } from './compare.ts'
import type { Revision } from './entry.ts'
import type { Occasion } from './finding.ts'
import type { IndexCache } from './index-cache.ts'
import { type Pick, pickDrafts } from './pick-drafts.ts'
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
  /** Names the redaction key (see redaction-key.ts). */
  redactionKey: string
}

/** A recorder over a trail. */
export function createRecorder(deps: Deps): Recorder {
  const { trail, index, clock, redactionKey } = deps
  const occasionOf = (scan: ScanIds): Occasion => ({ ...scan, observedAt: new Date(clock.now()).toISOString() })

  const record = async (revisions: readonly SeenRevision[], scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const left = lastOfEach(revisions.flatMap(pickable))
    const draft = { occasion: occasionOf(scan), redactionKey, trail, left }
    while (left.length > 0) {
      let settles = 0
      await trail.append(async (marks) => {
        const { entries, findings, ...picked } = await pickDrafts(await index.at(marks), draft)
        settles = picked.settles
        if (picked.rekeyed) index.touch()
        return chainBatch(marks, { entries, findings })
      }, signal)
      left.splice(0, settles)
    }
    await index.at((await trail.settled(signal)).state.marks)
    await index.save(signal)
  }

  const compare = async (seen: ReadonlySet<number>, scan: ScanIds, signal: AbortSignal): Promise<void> => {
    const occasion = occasionOf(scan)
    await trail.append(async (marks) => {
      const findings = compareHistory(await index.at(marks), seen, occasion)
      return chainBatch(marks, { findings })
    }, signal)
    await index.at((await trail.settled(signal)).state.marks)
    await index.save(signal)
  }

  return { record, compare }
}

/** In the order of their numbers. Of several copies in one list the last counts, so that a repetition changes nothing. */
function lastOfEach(picks: Pick[]): Pick[] {
  return [...new Map(picks.map((pick) => [pick.revision.revision, pick])).values()].sort(
    (a, b) => a.revision.revision - b.revision.revision,
  )
}

/** What has no revision number is no revision; the engine quarantines it. */
function pickable({ hash, record }: SeenRevision): Pick[] {
  const revision = record as Revision
  return Number.isInteger(revision.revision) ? [{ hash, revision: revision as Pick['revision'] }] : []
}

import { draftEntry, Entry, type EntryDraft, equalButForSecrets, type Revision, revisionOf } from './entry.ts'
import { draftFinding, type FindingDraft, type Occasion } from './finding.ts'
import { packedBytesInHead } from './pending.ts'
import type { Recorded, RevisionIndex } from './revision-index.ts'
import { unseal } from './sealed.ts'
import type { Trail } from './trail.ts'

/** A revision to record unless it is recorded already. */
export type Pick = { hash: string; revision: Revision & { revision: number } }

/** What to append, how many revisions that settles, and whether the index was changed on the way. */
type Picked = { entries: EntryDraft[]; findings: FindingDraft[]; settles: number; rekeyed: boolean }

type Context = { occasion: Occasion; redactionKey: string; trail: Trail; left: Pick[] }

/** No more entries at once than are stored in a moment, and few enough bytes that they mostly fit into the head, packed. */
const entriesAtOnce = 100
const charactersAtOnce = packedBytesInHead * 5

/** The next revisions of `left` that must be recorded. */
export async function pickDrafts(index: RevisionIndex, context: Context): Promise<Picked> {
  const { left, occasion, redactionKey } = context
  const picked: Picked = { entries: [], findings: [], settles: 0, rekeyed: false }
  let characters = 0
  for (const { hash, revision } of left) {
    const number = revision.revision
    if (picked.entries.length === entriesAtOnce || characters > charactersAtOnce) break
    const known = index.revisions.get(number)
    const same = known !== undefined && (known.contentHash === hash || (await onlyRekeyed(revision, known, context)))
    if (same && known.contentHash !== hash) {
      index.revisions.set(number, { ...known, contentHash: hash, redactionKey })
      picked.rekeyed = true
    }
    picked.settles += 1
    if (same) continue
    if (known) picked.findings.push(changedFinding(number, known, occasion))
    picked.entries.push(draftEntry(revision, { recordedAt: occasion.observedAt, redactionKey }))
    characters += JSON.stringify(revision).length
  }
  return picked
}

/** Another redaction key changes every fingerprint, and that is no change of the revision. */
async function onlyRekeyed(revision: Revision, known: Recorded, { redactionKey, trail }: Context): Promise<boolean> {
  if (known.redactionKey === redactionKey) return false
  const bytes = await trail.read('entries', known.sequence)
  const object = bytes && unseal(bytes)
  return object ? equalButForSecrets(revisionOf(Entry.parse(object.value)), revision) : false
}

function changedFinding(revision: number, { sequence }: Recorded, occasion: Occasion): FindingDraft {
  return draftFinding('revision_changed', occasion, {
    revision,
    recordedAs: sequence,
    message:
      `Revision ${revision} was recorded as entry ${sequence}, and the platform now shows another content for it, which ` +
      `is recorded, too. Run "platform-sync audit show ${revision}" to see what differs.`,
  })
}

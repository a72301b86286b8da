import { keyPart, parentPart } from '../streams/keys.ts'
import type { Stream } from '../streams/stream.ts'
import { type Checkpoint, Counts, type Scan } from './checkpoint.ts'
import type { Run, StreamResult, SyncDeps } from './context.ts'
import type { KeyTable } from './key-table.ts'
import { nextPass } from './page-reader.ts'
import { placeWithin } from './parent-lists.ts'
import { type ParentPlan, watermarkText } from './parent-plan.ts'

/** The index that the last whole scan of the parents left; null where there are none, or they were never read whole. */
export async function parentsIndexOf(
  { parent }: Stream,
  { checkpoints }: Pick<SyncDeps, 'checkpoints'>,
): Promise<string | null> {
  return parent ? ((await checkpoints.read(parent.stream.name))?.index?.key ?? null) : null
}

/**
 * The result of an attempt at lists per parent for which there is nothing to read: the parents were never read whole, or
 * are those after which the last scan left nothing. Null when there may be something.
 */
export function nothingToRead(
  { name, parent }: Stream,
  { before, parentsIndex, run: { runId } }: { before: Checkpoint | null; parentsIndex: string | null; run: Run },
): StreamResult | null {
  if (!parent) return null
  if (parentsIndex === null) {
    const reason = `${parent.stream.name} was never read whole: its lists are read once it was`
    return { stream: name, runId, status: 'skipped', reason, retryAfterMs: null, counts: null }
  }
  if (before === null || before.scan !== null || before.readWith !== parentsIndex) return null
  return nothingRead(name, { runId })
}

/** The result of an attempt that had nothing to read. */
export function nothingRead(stream: string, { runId }: Pick<Run, 'runId'>): StreamResult {
  const nothing = Counts.parse({})
  return { stream, runId, status: 'complete', reason: null, retryAfterMs: null, counts: nothing, ofRun: nothing }
}

/**
 * Puts a scan where it stands among the lists that are planned. `first` is the parent whose list goes on where it was left.
 * What was read of a list before its parent changed says nothing of it any more: then a new pass begins, which reads
 * that list from its first page.
 */
export function placedIn(scan: Scan, { planned }: ParentPlan, table: KeyTable): { scan: Scan; first: string | null } {
  const { position } = scan
  if (planned.length === 0) return { scan: { ...scan, position: { at: 'end' } }, first: null }
  const within = position.at === 'page' ? placeWithin(position.token) : null
  const parent = planned.find(({ id }) => id === within?.id)
  const isAsItWas = within !== null && parent !== undefined && watermarkText(parent) === within.watermark
  const isReadAgain = hasSeen(
    table,
    new Set(planned.filter(({ id }) => !isAsItWas || id !== within.id).map(({ id }) => keyPart(id))),
  )
  if (isReadAgain || (within !== null && !isAsItWas)) return { scan: { ...scan, ...nextPass(scan) }, first: null }
  return isAsItWas ? { scan, first: within.id } : { scan: { ...scan, position: { at: 'start' } }, first: null }
}

/** Whether the scan has seen records of some of these parents, or the end of their lists. */
function hasSeen(table: KeyTable, parents: ReadonlySet<string>): boolean {
  for (let at = 0; at < table.size; at++) if (table.pass(at) > 0 && parents.has(parentPart(table.key(at)))) return true
  return false
}

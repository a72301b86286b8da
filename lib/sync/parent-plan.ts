import { slices } from '../core/concurrency.ts'
import { RetryableError } from '../core/errors.ts'
import { sha256Bytes } from '../core/hash.ts'
import { parseJson } from '../core/json.ts'
import { keyPart, parentPart } from '../streams/keys.ts'
import type { Parent } from '../streams/stream.ts'
import type { SyncDeps } from './context.ts'
import { decodeIndex } from './index-format.ts'
import { hashBytes, type KeyTable, Kind } from './key-table.ts'

/** A parent whose list is to be read. */
export type PlannedParent = {
  readonly id: string
  /** What the index remembers of the parent once its list was read to the end. */
  readonly mark: Uint8Array
  /** How many records the parent says that its list has, and when it changed last, Unix ms; where it says so. */
  readonly size: number | undefined
  readonly changedAt: number | undefined
}

/** What an attempt at a stream of lists per parent is to read. */
export type ParentPlan = {
  /** The index of the parents that the plan follows. */
  readonly indexKey: string
  readonly planned: readonly PlannedParent[]
  /** Whether a parent, as it stands in keys, is in the list of parents. */
  isListed(parent: string): boolean
  /** Marks that were brought up to date since a parent changed in what does not concern its list. */
  readonly refreshed: number
}

/** `parentsIndex`: the index of the parents as it was found shortly before. */
type Planning = { parent: Parent; deps: SyncDeps; parentsIndex: string | null; signal: AbortSignal; table: KeyTable }

/** The mark of a parent: half of it is of its record, and half of its watermark, so that most nights need no record. */
const half = hashBytes / 2

/**
 * Plans an attempt: from the index that the last whole scan of the parents left, and the marks among what is known here.
 * Only of parents whose record differs from what the mark knows is the record read, and only those are planned whose
 * watermark differs, too.
 */
export async function planParents(planning: Planning, hadUncertain: boolean): Promise<ParentPlan> {
  const { parent, deps, parentsIndex, table, signal } = planning
  const { key, listed } = await listedParents(parent, parentsIndex, deps)
  const uncertain = hadUncertain ? parentsOfUncertain(table) : new Set<string>()
  const open = [...listed].filter(([part, { hash }]) => uncertain.has(part) || !isKnown(table, part, hash))
  const planned: PlannedParent[] = []
  let refreshed = 0
  for (const some of slices(open, recordsAtOnce)) {
    const ids = some.map(([, { id }]) => id)
    const bodies = await deps.records.bodies({ stream: parent.stream.name, keys: ids, signal })
    for (const [part, { id, hash }] of some) {
      const found = plannedParent(parent, { id, hash, body: bodies.get(id) })
      const at = table.find(part)
      if (at >= 0 && !uncertain.has(part) && hasWatermark(table, at, found.mark)) {
        table.setHash(at, found.mark)
        refreshed += 1
      } else planned.push(found)
    }
  }
  return { indexKey: key, planned, refreshed, isListed: (part) => listed.has(part) }
}

// What is held of them at once stays small however many parents there are.
const recordsAtOnce = 1_000

type Listed = { id: string; hash: string }

async function listedParents(parent: Parent, found: string | null, { checkpoints, index }: SyncDeps) {
  const { owns = () => true, stream } = parent
  for (let tries = 0; tries < 3; tries++) {
    // A publication that came between removes the index that was replaced.
    const key = tries === 0 ? found : ((await checkpoints.read(stream.name))?.index?.key ?? null)
    const bytes = key === null ? null : await index.readShared(key)
    if (key === null || bytes === null) continue
    const listed = new Map<string, Listed>()
    for (const { key: id, hash, kind } of decodeIndex(bytes).entries) {
      if (kind !== Kind.mark && owns(id)) listed.set(keyPart(id), { id, hash: firstHalf(hash) })
    }
    return { key, listed }
  }
  const message = `the index of ${stream.name} is missing: run "platform-sync sync ${stream.name}"`
  throw new RetryableError(message, { code: 'storage_unavailable' })
}

/** Half a hash as a short text: a view would keep all of the index in memory. */
function firstHalf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, half).toString('latin1')
}

function isKnown(table: KeyTable, part: string, hash: string): boolean {
  const at = table.find(part)
  return at >= 0 && table.kind(at) === Kind.mark && firstHalf(table.hash(at)) === hash
}

function hasWatermark(table: KeyTable, at: number, mark: Uint8Array): boolean {
  if (table.kind(at) !== Kind.mark) return false
  return Buffer.from(table.hash(at).subarray(half)).equals(mark.subarray(half))
}

/** Parents of whose records a dead attempt may have written some: their lists are read again, whatever their marks say. */
function parentsOfUncertain(table: KeyTable): Set<string> {
  const found = new Set<string>()
  const cleared = new Uint8Array(hashBytes)
  for (let at = 0; at < table.size; at++) {
    if (table.kind(at) === Kind.uncertain || table.hasHash(at, cleared)) found.add(parentPart(table.key(at)))
  }
  return found
}

type Known = Listed & { body: string | undefined }

/** Of a parent whose record can't be found nothing is known but its hash. */
function plannedParent({ watermark, size, stream }: Parent, { id, hash, body }: Known): PlannedParent {
  const record = body === undefined ? null : (parseJson(body) as { [key: string]: unknown })
  const mark = new Uint8Array(hashBytes)
  mark.set(Buffer.from(hash, 'latin1'))
  mark.set(sha256Bytes(record === null ? hash : watermark(record)).subarray(0, half), half)
  return {
    id,
    mark,
    size: record ? size(record) : undefined,
    changedAt: record ? stream.changedAt?.(record) : undefined,
  }
}

/** What tells one state of a parent's list from another, as a text: the half of the mark that is of its watermark. */
export function watermarkText({ mark }: Pick<PlannedParent, 'mark'>): string {
  return Buffer.from(mark.subarray(half)).toString('hex')
}

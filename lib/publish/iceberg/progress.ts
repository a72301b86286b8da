import * as z from 'zod'
import { sha256 } from '../../core/hash.ts'
import { identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Table } from '../../streams/table.ts'
import type { BehindTable } from '../manifest.ts'
import type { BehindTables } from '../ports.ts'
import type { DataFile } from './manifests.ts'
import { currentSnapshot, type TableMetadata } from './metadata.ts'
import { type Attempt, tablePrefix } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import type { PublishedScans } from './publications.ts'

const Bound = z.codec(z.base64(), z.custom<Uint8Array>(), {
  decode: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  encode: (bytes) => Buffer.from(bytes).toString('base64'),
})
const Statistics = z.object({
  id: z.int(),
  values: z.int(),
  nulls: z.int(),
  lower: Bound.nullable(),
  upper: Bound.nullable(),
})
const File = z.object({
  path: z.string(),
  rows: z.int(),
  bytes: z.int(),
  day: z.int().nullable(),
  statistics: z.array(Statistics).readonly(),
  sortOrderId: z.int().nullable(),
})

/** How far the update of a table is, for whoever goes on with it. */
export const Progress = z.object({
  of: z.string().describe('A digest of what is updated, and by what: of other things it says nothing.'),
  until: z.string().describe('When the last publication was made that it takes in.'),
  inCurrentForm: z.boolean().describe('Whether the files of these publications are as this version writes them.'),
  batch: z.int().describe('How many batches of publications are taken over.'),
  begun: z.array(File).nullable().describe("The table's files when the batch began; null for those of its snapshot."),
  holding: z.record(z.string(), z.boolean()).describe('Files that were opened: whether a changed record is in them.'),
  decided: z
    .object({ adopts: z.boolean(), anew: z.array(z.string()), isChanged: z.boolean() })
    .nullable()
    .describe('What becomes of the files: taken over as they are published, or some of them written anew.'),
  written: z.array(File).describe('Files of the batch that are written.'),
  after: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .nullable()
    .describe('The key of the last row in them.'),
})
export type Progress = z.infer<typeof Progress>

/** What a batch begins with. */
export const batchBegin = { holding: {}, decided: null, written: [], after: null } as const satisfies Partial<Progress>

/** Keeps how far the update of one table is. */
export type ProgressKeeper = {
  readonly state: Progress
  /** Whether an object says so already: what it names must stay. */
  readonly isKept: boolean
  /** Whether anything was done since it was opened. */
  readonly hasMoved: boolean
  /** Goes on where an earlier attempt was with the same, or begins. Answers the publications that are taken over. */
  open(publications: readonly PublishedScans[], by: Opening): Promise<readonly PublishedScans[]>
  /** Takes down what is done; durable once in a while, and with `keep`. */
  advance(done: Partial<Progress>): Promise<void>
  keep(): Promise<void>
  /** Forgets it: the update is committed. */
  clear(): Promise<void>
}

type Opening = { table: Table; metadata: TableMetadata; attempt: Attempt; inCurrentForm: boolean }

type Keeping = { behind: BehindTables; signal: AbortSignal; deps: IcebergDeps }

/**
 * Keeps progress in an object that the publisher's state names. Each attempt writes one of its own: what one that lost its
 * lease writes later is what nobody reads. Without `keeping` it is in memory alone.
 */
export function createProgress(name: string, keeping: Keeping | null): ProgressKeeper {
  const kept: Kept = { name, keeping, state: null, own: null, isDurable: true, at: keeping?.deps.clock.now() ?? 0 }
  let hasMoved = false
  return {
    get state() {
      return kept.state as Progress
    },
    get isKept() {
      return namedIn(kept) !== null
    },
    get hasMoved() {
      return hasMoved
    },
    open: (publications, opening) => openProgress(publications, opening, kept),
    advance: async (done) => {
      kept.state = { ...(kept.state as Progress), ...done }
      kept.isDurable = false
      hasMoved = true
      if (keeping && keeping.deps.clock.now() - kept.at >= keeping.deps.progressMs) await keepProgress(kept)
    },
    keep: () => keepProgress(kept),
    clear: () => clearProgress(kept),
  }
}

type Kept = {
  name: string
  keeping: Keeping | null
  state: Progress | null
  /** The object that this attempt writes. */
  own: string | null
  isDurable: boolean
  /** When it was made durable last. */
  at: number
}

/** The object that the publisher's state names. */
function namedIn({ name, keeping }: Kept): string | null {
  return keeping?.behind.of(name)?.progress ?? null
}

async function openProgress(publications: readonly PublishedScans[], opening: Opening, kept: Kept) {
  kept.own ??= opening.attempt.progressKey
  const found = kept.state ?? (await readProgress(namedIn(kept), kept.keeping?.deps))
  const covered = found ? publications.filter(({ at }) => at <= found.until) : []
  if (found && covered.length > 0 && found.of === digestOf(covered, opening)) {
    kept.state = found
    return covered
  }
  const of = digestOf(publications, opening)
  const until = publications.at(-1)?.at ?? ''
  kept.state = { of, until, inCurrentForm: opening.inCurrentForm, batch: 0, begun: null, ...batchBegin }
  return publications
}

async function keepProgress(kept: Kept): Promise<void> {
  const { name, keeping, state, own } = kept
  if (!keeping || !state || !own || kept.isDurable) return
  const { behind, signal, deps } = keeping
  const bytes = Buffer.from(JSON.stringify(z.encode(Progress, state)))
  await deps.files.put(own, bytes, { signal, contentType: 'application/json' })
  kept.isDurable = true
  kept.at = deps.clock.now()
  const stands = behind.of(name)
  if (!stands || stands.progress === own) return
  behind.note(name, { ...stands, progress: own })
  await behind.save()
  if (stands.progress) await deps.files.remove([stands.progress])
}

async function clearProgress(kept: Kept): Promise<void> {
  const { name, keeping, own } = kept
  const named = namedIn(kept)
  Object.assign(kept, { state: null, own: null, isDurable: true })
  if (!keeping || named === null) return
  const { progress: _, ...stands } = keeping.behind.of(name) as BehindTable
  keeping.behind.note(name, stands)
  await keeping.deps.files.remove([...new Set([named, ...(own === null ? [] : [own])])])
}

/** What can't be read is as if it were not there: then the update begins anew. */
async function readProgress(key: string | null, deps: IcebergDeps | undefined): Promise<Progress | null> {
  const bytes = key === null ? null : await deps?.files.get(key)
  if (!bytes) return null
  try {
    return Progress.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}

/** Of another snapshot, of other columns or of files that were written anew meanwhile it would be another update. */
function digestOf(publications: readonly PublishedScans[], { table, metadata }: Opening): string {
  const base = currentSnapshot(metadata)?.['snapshot-id'] ?? null
  const columns = identifiedColumnsOf(table).map(({ id }) => id)
  const keys = publications.map(({ files }) => files.map(({ key }) => key).sort())
  return sha256(JSON.stringify([tablePrefix(table.name), base, columns, keys]))
}

/** The files of an update by their addresses: those that the table has are the ones it was read with. */
export function sameFiles(files: readonly DataFile[], known: readonly DataFile[]): DataFile[] {
  const byPath = new Map(known.map((file) => [file.path, file]))
  return files.map((file) => byPath.get(file.path) ?? file)
}

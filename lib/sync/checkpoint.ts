import * as z from 'zod'

/** How an attempt at a stream ended; also what `status` shows. `running`: another worker holds the lease. */
export const StreamStatus = z.enum(['running', 'paused', 'complete', 'suspect', 'rate_limited', 'skipped', 'failed'])
export type StreamStatus = z.infer<typeof StreamStatus>

function count() {
  return z.int().min(0).default(0)
}

/** What a scan has seen. `received = inserted + updated + unchanged + duplicate + quarantined`, always. */
export const Counts = z.object({
  received: count().describe('Records the API sent, repeats included.'),
  inserted: count().describe('Keys that were not known before this scan.'),
  updated: count().describe('Known keys whose content differs.'),
  unchanged: count().describe('Known keys with the same content.'),
  duplicate: count().describe('Further copies of a key already seen in this scan.'),
  quarantined: count().describe(
    'Records that no table can take: without a usable primary key, no object, or nested too deep.',
  ),
  deleted: count().describe('Keys that the list did not show as it was read from its first page to its end.'),
  drifted: count().describe('New or changed records with fields or values that the schema does not know.'),
  repaired: count().describe('Records with half a surrogate pair, replaced by U+FFFD.'),
  invalid: z
    .record(z.string(), z.int())
    .default(() => ({}))
    .describe('Of each field: records received, unchanged ones included, with a value that its column could not take.'),
  pages: count().describe('Pages read.'),
  apiCalls: count().describe('HTTP requests sent, retries included.'),
})
export type Counts = z.infer<typeof Counts>

/** The parts that one attempt has flushed, in a row. Its fence is in the names of the objects. */
export const Segment = z.object({ fence: z.int(), parts: z.int() })
export type Segment = z.infer<typeof Segment>

/** Some of many: how many there are, and the first of them. */
export const Some = z.object({ count: z.int(), first: z.array(z.string()) })
export type Some = z.infer<typeof Some>

/** A scan in progress: enough to go on from after a death at any instant, and bounded in size. */
export const Scan = z.object({
  scanId: z.string(),
  runId: z.string().describe('The run that began the scan: where its files lie, even when a later run ends it.'),
  firstFence: z.int().describe('The fence of its first attempt.'),
  startedAt: z.number().describe('Unix ms; the time that every row of the scan carries.'),
  takenUp: z
    .object({ runId: z.string(), counts: Counts })
    .optional()
    .describe('The run that went on with it last, and what had been counted before that.'),
  position: z.discriminatedUnion('at', [
    z.object({ at: z.literal('start') }),
    z.object({ at: z.literal('page'), token: z.string() }),
    z.object({ at: z.literal('end') }),
  ]),
  approval: z.boolean().default(false).describe('It reads no list: it carries out deletes that were withheld.'),
  pass: z.int().describe('1, and one more for each restart from the beginning of the list.'),
  restarts: z.object({ runId: z.string(), count: z.int() }).describe('Restarts of the current run.'),
  barrenPages: z.int().describe('Pages in a row, up to now, that brought no new record.'),
  pageSize: z.int().min(1).optional().describe('The page size that worked, where the declared one was too heavy.'),
  unknownMembers: z
    .array(z.object({ name: z.string(), pages: z.int() }))
    .optional()
    .describe('What the answers held besides the list, without being known, and on how many pages.'),
  parents: z
    .object({ miscounted: Some, unread: Some })
    .optional()
    .describe('Of lists per parent: those with another number of records than the parent says, and those not read.'),
  unkeyed: z.int().describe('Quarantined records without a readable primary key.'),
  segments: z.array(Segment),
  counts: Counts,
})
export type Scan = z.infer<typeof Scan>

/** A scan that ended, as the manifest and `status` show it. */
export const ScanSummary = z.object({
  stream: z.string(),
  scanId: z.string(),
  runId: z.string(),
  startedAt: z.number(),
  completedAt: z.number(),
  status: z.enum(['complete', 'suspect']),
  reason: z.string().nullable().describe('Why it is suspect.'),
  withheldDeletes: z.int(),
  counts: Counts,
  ofRun: Counts.optional().describe('What the run that ended it asked and received.'),
  records: z.int().describe('Live records after the scan.'),
  filesKey: z.string().describe('The object that lists the files the scan wrote.'),
  indexKey: z.string().nullable().describe('The index that stands after the scan.'),
  replacedIndexKey: z.string().nullable().describe('The index that stood before, if the scan replaced it.'),
  fences: z
    .object({ first: z.int(), last: z.int() })
    .describe('The attempts at the scan: an unlisted object with a fence in between was left by a dead one.'),
})
export type ScanSummary = z.infer<typeof ScanSummary>

/** One object in the lake, with what is needed to load and to verify it. */
export const PartFile = z.object({
  kind: z.enum(['changes', 'quarantine']),
  table: z.string().describe('The warehouse table, or the stream of a quarantine file.'),
  key: z.string().describe('Object key in the lake bucket.'),
  rows: z.int(),
  bytes: z.int(),
  sha256: z.string(),
  schemaVersion: z.string().describe('Changes when the columns of the table change.'),
})
export type PartFile = z.infer<typeof PartFile>

/** Where to find the objects that the attempts at a scan wrote. */
export type ScanFootprint = Pick<ScanSummary, 'stream' | 'scanId' | 'runId' | 'startedAt' | 'fences'>

/** Something about a scan that deserves attention, as its observer says it. Holds no value of a record. */
export const Notice = z.object({
  severity: z.enum(['info', 'warning', 'critical']),
  code: z.string().describe('What kind of thing it is, for those who sort by it.'),
  about: z.string().describe('What it is about, in a few words.'),
  message: z.string().describe('Why it matters.'),
})
export type Notice = z.infer<typeof Notice>

/** All that is remembered of a stream between attempts. `unpublished` is written by completion and by publish alone. */
export const Checkpoint = z.object({
  stream: z.string(),
  fence: z.int().describe('Grows with each acquisition; every write is conditional on it.'),
  status: StreamStatus.nullable(),
  reason: z.string().nullable(),
  statusAt: z.number().nullable(),
  notBefore: z.number().optional().describe('Unix ms; until then the platform wants no request for the stream.'),
  runId: z.string().nullable().describe('The run of the last attempt.'),
  scan: Scan.nullable(),
  scansCompleted: z.int(),
  lastScan: ScanSummary.nullable(),
  completeAt: z
    .number()
    .optional()
    .describe('Unix ms; when the last scan began that was complete and read its list, whatever scans came after it.'),
  index: z.object({ key: z.string(), entries: z.int().describe('Records, not marks of parents.') }).nullable(),
  readWith: z
    .string()
    .nullish()
    .describe(
      'Of lists per parent: the index of the parents after which nothing is left to read until there is another.',
    ),
  notices: z.array(Notice).optional().describe('What the observer said of the last scan.'),
})
export type Checkpoint = z.infer<typeof Checkpoint>

/** The checkpoint of a stream that was never read. */
export function newCheckpoint(stream: string): Checkpoint {
  return {
    stream,
    fence: 0,
    status: null,
    reason: null,
    statusAt: null,
    runId: null,
    scan: null,
    scansCompleted: 0,
    lastScan: null,
    index: null,
  }
}

/**
 * The checkpoint after a reset: the next scan reads the whole list, and with `index` writes every record anew. A scan
 * in progress keeps its name without its parts, so that the next one can remove the files it left. A wait that the
 * platform asked for is forgotten, too.
 */
export function resetCheckpoint(checkpoint: Checkpoint, { index }: { index: boolean }): Checkpoint {
  return {
    ...checkpoint,
    scan: checkpoint.scan && { ...checkpoint.scan, position: { at: 'start' }, segments: [] },
    index: index ? null : checkpoint.index,
    readWith: undefined,
    notBefore: undefined,
  }
}

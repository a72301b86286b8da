import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import * as z from 'zod'
import { ofKnownForm } from '../../core/form.ts'
import { contentHash } from '../../core/hash.ts'
import type { Json } from '../../core/json.ts'
import { type EntryRef, entryOf, revisionOf } from './entry.ts'
import { Finding } from './finding.ts'
import { ChainHead, type ChainHeads, emptyChain } from './head.ts'
import { range } from './read-ahead.ts'

/** A revision as it was last recorded. */
export type RecordedRevision = {
  sequence: number
  contentHash: string
  redactionKey: string
  /** Sequences of entries that recorded it with another content before. */
  earlier: number[]
}

/**
 * The content of the trail in short, so that it need not be read: made from entries and findings, kept in the lake
 * bucket, and made again when it is missing.
 */
export type RevisionIndex = {
  entries: ChainHead
  findings: ChainHead
  revisions: Map<number, RecordedRevision>
  /** Revisions that a finding says are gone. */
  vanished: Set<number>
  /** Missing revision numbers that a finding has named. */
  gaps: RevisionRange[]
  /** The last finding on a suspect scan. */
  suspect: SuspectScan | null
}

const SuspectScan = Finding.pick({ scanId: true, observedAt: true, message: true })
type SuspectScan = z.infer<typeof SuspectScan>

/** The first and the last of consecutive revision numbers. */
export type RevisionRange = [from: number, to: number]

/** The index of a trail without entries. */
export function emptyIndex(): RevisionIndex {
  return {
    entries: emptyChain(),
    findings: emptyChain(),
    revisions: new Map(),
    vanished: new Set(),
    gaps: [],
    suspect: null,
  }
}

/** Checks that an index can be brought up to these heads by reading on from where it stands. */
export function isBehind(index: RevisionIndex, heads: ChainHeads): boolean {
  return reaches(heads.entries, index.entries) && reaches(heads.findings, index.findings)
}

function reaches(head: ChainHead, from: ChainHead) {
  return head.sequence > from.sequence || (head.sequence === from.sequence && head.hash === from.hash)
}

/** Takes an entry into the index. Entries come in the order of their sequence; what is none is passed over. */
export function indexEntry(index: RevisionIndex, value: Json): void {
  const entry = entryOf(value)
  if (!entry) return
  const before = index.revisions.get(entry.revision)
  const earlier = before?.earlier ?? []
  if (before) earlier.push(before.sequence)
  index.revisions.set(entry.revision, {
    earlier,
    sequence: entry.sequence,
    contentHash: contentHash(revisionOf(entry)),
    redactionKey: entry.redactionKey,
  })
}

/** Takes a finding into the index, so that it is not found again; what is none is passed over. */
export function indexFinding(index: RevisionIndex, value: Json): void {
  const finding = Finding.safeParse(value).data
  if (!finding) return
  const { kind, revision, revisionTo } = finding
  if (kind === 'suspect_scan') index.suspect = SuspectScan.parse(finding)
  if (revision === null || revisionTo === null) return
  if (kind === 'revision_gap' || kind === 'history_gap') index.gaps.push([revision, revisionTo])
  if (kind === 'revision_vanished') for (const each of range(revision, revisionTo)) index.vanished.add(each)
  if (kind === 'revision_returned') for (const each of range(revision, revisionTo)) index.vanished.delete(each)
}

/** Where the index lies in the lake bucket. */
export const revisionIndexKey = 'index/audit/revisions.json.zst'

const Stored = z.object({
  version: z.literal(1),
  entries: ChainHead,
  findings: ChainHead,
  revisions: z.array(z.tuple([z.int(), z.int(), z.string(), z.string(), z.array(z.int())])),
  vanished: z.array(z.int()),
  gaps: z.array(z.tuple([z.int(), z.int()])),
  suspect: SuspectScan.nullable().default(null),
})

/** The index as stored. */
export function encodeRevisionIndex(index: RevisionIndex): Uint8Array {
  return zstdCompressSync(
    JSON.stringify({
      version: 1,
      entries: index.entries,
      findings: index.findings,
      revisions: Array.from(index.revisions, ([revision, { sequence, contentHash, redactionKey, earlier }]) => [
        revision,
        sequence,
        contentHash,
        redactionKey,
        earlier,
      ]),
      vanished: [...index.vanished],
      gaps: index.gaps,
      suspect: index.suspect,
    } satisfies z.infer<typeof Stored>),
  )
}

/**
 * Reads a stored index; null when it can't be read, which costs a pass over the entries and nothing else.
 * @throws FatalError `configuration` when a later version wrote it.
 */
export function decodeRevisionIndex(bytes: Uint8Array): RevisionIndex | null {
  const goBack = `remove ${revisionIndexKey} from the lake bucket: it is made anew from the entries`
  const { data } = Stored.safeParse(ofKnownForm(parsedValue(bytes), { what: "audit trail's index", goBack }))
  if (!data) return null
  const revisions = data.revisions.map(([revision, sequence, contentHash, redactionKey, earlier]) => {
    return [revision, { sequence, contentHash, redactionKey, earlier }] as const
  })
  const { entries, findings, vanished, gaps, suspect } = data
  return { entries, findings, revisions: new Map(revisions), vanished: new Set(vanished), gaps, suspect }
}

function parsedValue(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(zstdDecompressSync(bytes).toString())
  } catch {
    return undefined
  }
}

/** References to all entries: several of a revision that was recorded with several contents. */
export function entryRefsOf({ revisions }: RevisionIndex): EntryRef[] {
  return Array.from(revisions, ([revision, { sequence, earlier }]) =>
    [...earlier, sequence].map((each) => ({ revision, sequence: each })),
  ).flat()
}

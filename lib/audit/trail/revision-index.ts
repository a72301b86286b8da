import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import * as z from 'zod'
import { contentHash } from '../../core/hash.ts'
import { Entry, revisionOf } from './entry.ts'
import { Finding } from './finding.ts'
import { Mark, type Marks } from './head.ts'
import { genesis } from './sealed.ts'

/** How a revision was last recorded. */
export type Recorded = {
  sequence: number
  contentHash: string
  redactionKey: string
  /** Sequences of entries that recorded it with another content before. */
  earlier: number[]
}

/**
 * What the trail holds, so that it need not be read: made from entries and findings, kept in the lake bucket, and made
 * again when it is missing.
 */
export type RevisionIndex = {
  entries: Mark
  findings: Mark
  revisions: Map<number, Recorded>
  /** Revisions that a finding says are gone. */
  vanished: Set<number>
  /** Missing revision numbers that a finding has named. */
  gaps: Range[]
}

/** The first and the last of a row of numbers. */
export type Range = [from: number, to: number]

/** The index of a trail without entries. */
export function emptyIndex(): RevisionIndex {
  return {
    entries: { sequence: 0, hash: genesis },
    findings: { sequence: 0, hash: genesis },
    revisions: new Map(),
    vanished: new Set(),
    gaps: [],
  }
}

/** Whether an index can be brought up to these marks by reading on from where it stands. */
export function isBehind(index: RevisionIndex, marks: Marks): boolean {
  return reaches(marks.entries, index.entries) && reaches(marks.findings, index.findings)
}

function reaches(mark: Mark, from: Mark) {
  return mark.sequence > from.sequence || (mark.sequence === from.sequence && mark.hash === from.hash)
}

/** Takes an entry into the index. Entries come in the order of their sequence. */
export function indexEntry(index: RevisionIndex, value: unknown): void {
  const entry = Entry.parse(value)
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

/** Takes a finding into the index, so that it is not found again. */
export function indexFinding(index: RevisionIndex, value: unknown): void {
  const { kind, revision, revisionTo } = Finding.parse(value)
  if (revision === null || revisionTo === null) return
  if (kind === 'revision_gap') index.gaps.push([revision, revisionTo])
  for (let each = revision; kind !== 'revision_gap' && each <= revisionTo; each++) {
    if (kind === 'revision_vanished') index.vanished.add(each)
    if (kind === 'revision_returned') index.vanished.delete(each)
  }
}

const Stored = z.object({
  version: z.literal(1),
  entries: Mark,
  findings: Mark,
  revisions: z.array(z.tuple([z.int(), z.int(), z.string(), z.string(), z.array(z.int())])),
  vanished: z.array(z.int()),
  gaps: z.array(z.tuple([z.int(), z.int()])),
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
    } satisfies z.infer<typeof Stored>),
  )
}

/** Reads a stored index; null when it can't be read, which costs a pass over the entries and nothing else. */
export function decodeRevisionIndex(bytes: Uint8Array): RevisionIndex | null {
  try {
    const { entries, findings, revisions, vanished, gaps } = Stored.parse(
      JSON.parse(zstdDecompressSync(bytes).toString()),
    )
    return {
      entries,
      findings,
      revisions: new Map(
        revisions.map(([revision, sequence, contentHash, redactionKey, earlier]) => [
          revision,
          { sequence, contentHash, redactionKey, earlier },
        ]),
      ),
      vanished: new Set(vanished),
      gaps,
    }
  } catch {
    return null
  }
}

/** Where all revisions were recorded, those with several contents several times. */
export function placesOf({ revisions }: RevisionIndex): { revision: number; sequence: number }[] {
  return Array.from(revisions, ([revision, { sequence, earlier }]) =>
    [...earlier, sequence].map((each) => ({ revision, sequence: each })),
  ).flat()
}

import type { Json } from '../../core/json.ts'
import type { EntryDraft } from './entry.ts'
import type { FindingDraft } from './finding.ts'
import type { Mark, Marks } from './head.ts'
import type { Write } from './pending.ts'
import { keyOf, type Link, type Series, seal } from './sealed.ts'
import type { Batch } from './trail.ts'

/** Seals drafts as the next objects of a chain that reaches to `mark`. */
export function chain(
  series: Series,
  mark: Mark,
  drafts: readonly { [key: string]: Json | undefined }[],
): { writes: Write[]; mark: Mark } {
  const writes: Write[] = []
  let { sequence, hash } = mark
  for (const draft of drafts) {
    sequence += 1
    const link: Link = { version: 1, sequence, previousHash: hash }
    const sealed = seal({ ...draft, ...link })
    writes.push({ key: keyOf(series, sequence), bytes: sealed.bytes })
    hash = sealed.hash
  }
  return { writes, mark: { sequence, hash } }
}

/** The batch that appends entries and findings; null when there are none. */
export function chainBatch(
  marks: Marks,
  drafts: { entries?: readonly EntryDraft[]; findings?: readonly FindingDraft[] },
): Batch | null {
  const entries = chain('entries', marks.entries, drafts.entries ?? [])
  const findings = chain('findings', marks.findings, drafts.findings ?? [])
  const writes = [...entries.writes, ...findings.writes]
  return writes.length === 0 ? null : { writes, next: { ...marks, entries: entries.mark, findings: findings.mark } }
}

import type { Json } from '../../core/json.ts'
import type { EntryDraft } from './entry.ts'
import type { FindingDraft } from './finding.ts'
import type { ChainHead, ChainHeads } from './head.ts'
import type { ObjectWrite } from './pending-append.ts'
import { type ChainName, keyOf, type Link, seal } from './sealed.ts'

/** The objects to append, and the heads of the chains with them. */
export type AppendPlan = { writes: ObjectWrite[]; next: ChainHeads }

/** Seals drafts as the next objects of a chain that ends at `head`. */
export function extendChain(
  chain: ChainName,
  head: ChainHead,
  drafts: readonly { [key: string]: Json | undefined }[],
): { writes: ObjectWrite[]; head: ChainHead } {
  const writes: ObjectWrite[] = []
  let { sequence, hash } = head
  for (const draft of drafts) {
    sequence += 1
    const link: Link = { version: 1, sequence, previousHash: hash }
    const sealed = seal({ ...draft, ...link })
    writes.push({ key: keyOf(chain, sequence), bytes: sealed.bytes })
    hash = sealed.hash
  }
  return { writes, head: { sequence, hash } }
}

/** Plans to append entries and findings; null when there are none. */
export function planAppend(
  heads: ChainHeads,
  drafts: { entries?: readonly EntryDraft[]; findings?: readonly FindingDraft[] },
): AppendPlan | null {
  const entries = extendChain('entries', heads.entries, drafts.entries ?? [])
  const findings = extendChain('findings', heads.findings, drafts.findings ?? [])
  const writes = [...entries.writes, ...findings.writes]
  return writes.length === 0 ? null : { writes, next: { ...heads, entries: entries.head, findings: findings.head } }
}

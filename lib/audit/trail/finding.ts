import * as z from 'zod'
import { lazyObject } from '../../core/schema.ts'
import { linkFields } from './entry.ts'
import { range, readAhead } from './read-ahead.ts'
import { unseal } from './sealed.ts'

/** Kinds of things that can be wrong with the history or with its record. */
export const FindingKind = z.enum([
  'revision_changed',
  'revision_vanished',
  'revision_returned',
  'revision_gap',
  'history_gap',
  'suspect_scan',
  'chain_fork',
  'digest_missing',
  'trail_damaged',
])
export type FindingKind = z.infer<typeof FindingKind>

/** The attention that something deserves. */
export const Severity = z.enum(['info', 'warning', 'critical'])
export type Severity = z.infer<typeof Severity>

const meanings: Record<FindingKind, { severity: Severity; meaning: string }> = {
  revision_changed: {
    severity: 'critical',
    meaning: 'The platform now shows another content for a revision than when it was recorded.',
  },
  revision_vanished: { severity: 'critical', meaning: 'The platform no longer lists a revision that was recorded.' },
  revision_returned: { severity: 'info', meaning: 'A revision that had vanished is listed again.' },
  revision_gap: { severity: 'warning', meaning: 'Revision numbers are missing between revisions that are listed.' },
  history_gap: {
    severity: 'info',
    meaning: 'Revision numbers were missing already when this record began.',
  },
  suspect_scan: {
    severity: 'warning',
    meaning: 'A list lacked too much to be believed, and was not compared with what is recorded.',
  },
  chain_fork: { severity: 'critical', meaning: 'An entry does not follow from the one before it.' },
  digest_missing: { severity: 'critical', meaning: 'A signed digest that was due is not there.' },
  trail_damaged: { severity: 'critical', meaning: 'Stored evidence was altered, removed or added.' },
}

/** The meaning of a kind of findings, in one sentence. */
export function meaningOf(kind: FindingKind): string {
  return meanings[kind].meaning
}

/** Something that someone must look at. Findings are chained as entries are, so that none can be dropped unseen. */
export const Finding = lazyObject(() => ({
  ...linkFields,
  kind: FindingKind,
  severity: Severity,
  observedAt: z.string().describe('ISO 8601, UTC.'),
  runId: z.string().nullable(),
  scanId: z.string().nullable(),
  revision: z.int().nullable().describe('The revision, or the first of several in a row.'),
  revisionTo: z.int().nullable().describe('The last of them.'),
  recordedAs: z.int().nullable().describe('Sequence of the entry that recorded the revision.'),
  place: z.string().nullable().describe('The stored object that is at fault.'),
  message: z.string().describe('What was found, and what to do.'),
}))
export type Finding = z.infer<typeof Finding>

/** A finding without its place in the chain. */
export type FindingDraft = Omit<Finding, 'hash' | 'previousHash' | 'sequence' | 'version'>

/** The scan in which something was observed, and when; null where the daily verification found it. */
export type ObservedIn = { runId: string | null; scanId: string | null; observedAt: string }

const readsAtOnce = 16

type Subject = { revision?: number; revisionTo?: number; recordedAs?: number | undefined; place?: string }

/** Drafts a finding. `message` never holds a value of the settings. */
export function draftFinding(
  kind: FindingKind,
  { runId, scanId, observedAt }: ObservedIn,
  { message, revision, revisionTo = revision, recordedAs, place }: Subject & { message: string },
): FindingDraft {
  return {
    kind,
    severity: meanings[kind].severity,
    observedAt,
    runId,
    scanId,
    revision: revision ?? null,
    revisionTo: revisionTo ?? null,
    recordedAs: recordedAs ?? null,
    place: place ?? null,
    message,
  }
}

/**
 * Reads the findings from `first` to `last`, in their order. One that can't be read is left out: that is a fault of the
 * trail, which the verifier reports.
 */
export async function* readFindings(
  read: (sequence: number) => Promise<Uint8Array | null>,
  { first, last }: { first: number; last: number },
): AsyncGenerator<Finding> {
  for await (const { value: bytes } of readAhead(range(first, last), readsAtOnce, read)) {
    const finding = Finding.safeParse(bytes && unseal(bytes)?.value)
    if (finding.success) yield finding.data
  }
}

/** A text such as "revision 7" or "revisions 7 to 9". */
export function revisionsText(from: number, to: number): string {
  return from === to ? `revision ${from}` : `revisions ${from} to ${to}`
}

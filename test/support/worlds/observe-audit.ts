import { type ChainName, chainNames, sequenceOf, unseal } from '../../../lib/audit/trail/sealed.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import type { Contents } from './storage.ts'

/** What a reader of a world can tell of its audit trail. */
export type AuditView = {
  entries: unknown[]
  findings: unknown[]
  /** How far each digest reaches. */
  digests: unknown[]
  head: unknown
  /** What the verifier says, with the head at hand. */
  faults: unknown[]
}

type Fields = { [name: string]: unknown }
type Marks = Record<ChainName, { sequence: number; hash: string }>

/** The trail without what depends on when, by which scan and in how many attempts it was written. */
export async function auditViewOf({ objects, state }: Contents): Promise<AuditView | null> {
  const head = state.find(({ pk, sk }) => pk?.S === 'audit' && sk?.S === 'head')
  if (!head) return null
  const marks = JSON.parse(head.marks?.S ?? '') as Marks
  const stored = (chain: ChainName): Fields[] =>
    [...objects.keys()]
      .filter((key) => sequenceOf(chain, key) !== null)
      .sort()
      .map((key) => unseal(objects.get(key) as Buffer)?.value as Fields)
  const { faults } = await verifyTrail(
    {
      get: async (key) => objects.get(key) ?? null,
      list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    },
    { head: async () => marks as never },
  )
  return {
    entries: stored('entries').map(({ hash: _, previousHash: __, recordedAt, ...entry }) => ({
      ...entry,
      day: String(recordedAt).slice(0, 10),
    })),
    findings: stored('findings').map(({ kind, revision, revisionTo, recordedAs, message }) => ({
      kind,
      revision,
      revisionTo,
      recordedAs,
      message,
    })),
    digests: stored('digests').map((digest) => {
      const { entries, findings } = digest.head as Marks
      return { entries: entries.sequence, findings: findings.sequence }
    }),
    head: {
      marks: chainNames.map((chain) => marks[chain].sequence),
      isPending: head.nextMarks !== undefined,
    },
    faults,
  }
}

import type { Audit } from '../audit/audit.ts'
import { type RevisionDiff, readHistory } from '../audit/changes/history.ts'
import type { TrailPlace } from '../audit/report/report.ts'
import { type Finding, readFindings } from '../audit/trail/finding.ts'
import { entryRefsOf } from '../audit/trail/revision-index.ts'
import type { Anchor } from '../audit/verify/anchor.ts'
import { type Verification, verifyTrail } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import type { Cli, CommonOptions } from './command.ts'
import type { Output } from './output.ts'

type Opening = { cli: Cli; io: Output; options: CommonOptions }

/** Runs a command on the audit trail that the environment names. @throws FatalError `configuration` when it names none. */
export async function withAudit<T>(
  { cli, io, options }: Opening,
  run: (audit: Audit, place: TrailPlace) => Promise<T>,
): Promise<T> {
  const { composeAudit } = await import('../compose/audit.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false }, ({ open }) => {
    const { audit, place } = open(composeAudit)
    return run(auditOf(audit), place)
  })
}

function auditOf(audit: Audit | null): Audit {
  if (audit) return audit
  throw new FatalError(
    'No audit trail is recorded: AUDIT_BUCKET is missing; set it to the name of the audit bucket (an output of the stateful ' +
      'stack), or add --local',
    { code: 'configuration' },
  )
}

/** The heads of the chains, once what a dead writer left pending is finished. */
export async function headsOf({ trail }: Audit, signal: AbortSignal) {
  return (await trail.recoverHead(signal)).state.heads
}

type VerifyStored = {
  signal: AbortSignal
  now: number
  trustedKeyIds?: readonly string[] | undefined
  anchor?: Anchor
}

/**
 * Verifies the trail in its bucket against the head. Unless keys are named, the one that signs here must have signed: a
 * key that lies beside the digests proves nothing.
 */
export async function verifyStored(audit: Audit, options: VerifyStored): Promise<Verification> {
  const { signal, now, trustedKeyIds, anchor = {} } = options
  return verifyTrail(audit.store, {
    head: () => headsOf(audit, signal),
    now,
    anchor,
    trustedKeyIds: trustedKeyIds ?? [await audit.signer.keyId()],
  })
}

/** The changes of every recorded revision; of the wanted revisions alone, if any are named. */
export async function diffsOf(
  audit: Audit,
  signal: AbortSignal,
  wanted?: ReadonlySet<number>,
): Promise<RevisionDiff[]> {
  const diffs: RevisionDiff[] = []
  for await (const diff of await revisionsOf(audit, signal, wanted)) diffs.push(diff)
  return diffs
}

/** The same, one after the other. */
export async function revisionsOf(
  audit: Audit,
  signal: AbortSignal,
  wanted?: ReadonlySet<number>,
): Promise<AsyncIterable<RevisionDiff>> {
  const { trail, index, watch } = audit
  const refs = entryRefsOf(await index.at(await headsOf(audit, signal)))
  const only = wanted ? { only: ({ revision }: { revision: number }) => wanted.has(revision) } : {}
  return readHistory((at) => trail.read('entries', at), refs, { watch, ...only })
}

/** Reads all findings, the oldest first; one that can't be read is a fault of the trail, and left out. */
export async function findingsOf(audit: Audit, signal: AbortSignal): Promise<Finding[]> {
  const { findings } = await headsOf(audit, signal)
  const numbers = { first: 1, last: findings.sequence }
  const found: Finding[] = []
  for await (const each of readFindings((at) => audit.trail.read('findings', at), numbers)) found.push(each)
  return found
}

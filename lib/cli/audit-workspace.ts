import type { Audit } from '../audit/audit.ts'
import { type RevisionDiff, readHistory } from '../audit/changes/history.ts'
import type { AuditLook } from '../audit/look.ts'
import type { TrailPlace } from '../audit/report/report.ts'
import { type Finding, readFindings } from '../audit/trail/finding.ts'
import { entryRefsOf } from '../audit/trail/revision-index.ts'
import type { Anchor } from '../audit/verify/anchor.ts'
import { type Verification, verifyTrail } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import type { Cli, CommonOptions } from './command.ts'
import type { Output } from './output.ts'

type Opening = { cli: Cli; io: Output; options: CommonOptions }

/** Looks at the audit trail that the environment names. @throws FatalError `configuration` when it names none. */
export async function withAuditLook<T>(
  { cli, io, options }: Opening,
  run: (look: AuditLook, place: TrailPlace) => Promise<T>,
): Promise<T> {
  const { composeAuditLook } = await import('../compose/audit-look.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false, looks: true }, ({ open }) => {
    const { look, place } = open(composeAuditLook)
    return run(recorded(look), place)
  })
}

/** The audit trail for those who write to it, and as they look at it. */
export type OpenAudit = { audit: Audit; look: AuditLook; place: TrailPlace }

/** Runs a command that writes to the audit trail. @throws FatalError `configuration` when the environment names none. */
export async function withAudit<T>({ cli, io, options }: Opening, run: (opened: OpenAudit) => Promise<T>): Promise<T> {
  const { composeAudit } = await import('../compose/audit.ts')
  const { composeAuditLook } = await import('../compose/audit-look.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false }, ({ open }) => {
    const { audit, place } = open(composeAudit)
    return run({ audit: recorded(audit), look: recorded(open(composeAuditLook).look), place })
  })
}

function recorded<T>(trail: T | null): T {
  if (trail) return trail
  throw new FatalError(
    'No audit trail is recorded: AUDIT_BUCKET is missing; set it to the name of the audit bucket (an output of the stateful ' +
      'stack), or add --local',
    { code: 'configuration' },
  )
}

type VerifyStored = {
  now: number
  trustedKeyIds?: readonly string[] | undefined
  anchor?: Anchor
}

/**
 * Verifies the trail in its bucket against the head. Unless keys are named, the one that signs here must have signed: a
 * key that lies beside the digests proves nothing.
 */
export async function verifyStored(look: AuditLook, options: VerifyStored): Promise<Verification> {
  const { now, trustedKeyIds, anchor = {} } = options
  return verifyTrail(look.store, {
    head: look.heads,
    now,
    anchor,
    trustedKeyIds: trustedKeyIds ?? (await look.signingKeyIds()),
  })
}

/** The changes of every recorded revision; of the wanted revisions alone, if any are named. */
export async function diffsOf(look: AuditLook, wanted?: ReadonlySet<number>): Promise<RevisionDiff[]> {
  const diffs: RevisionDiff[] = []
  for await (const diff of await revisionsOf(look, wanted)) diffs.push(diff)
  return diffs
}

/** The same, one after the other. */
export async function revisionsOf(
  { heads, read, index, watch }: AuditLook,
  wanted?: ReadonlySet<number>,
): Promise<AsyncIterable<RevisionDiff>> {
  const refs = entryRefsOf(await index.at(await heads()))
  const only = wanted ? { only: ({ revision }: { revision: number }) => wanted.has(revision) } : {}
  return readHistory((at) => read('entries', at), refs, { watch, ...only })
}

/** Reads all findings, the oldest first; one that can't be read is a fault of the trail, and left out. */
export async function findingsOf({ heads, read }: AuditLook): Promise<Finding[]> {
  const { findings } = await heads()
  const numbers = { first: 1, last: findings.sequence }
  const found: Finding[] = []
  for await (const each of readFindings((at) => read('findings', at), numbers)) found.push(each)
  return found
}

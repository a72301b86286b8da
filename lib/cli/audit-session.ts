import type { Audit } from '../audit/audit.ts'
import { readHistory, type Step } from '../audit/changes/history.ts'
import { Finding } from '../audit/trail/finding.ts'
import { range, readAhead } from '../audit/trail/read-ahead.ts'
import { placesOf } from '../audit/trail/revision-index.ts'
import { unseal } from '../audit/trail/sealed.ts'
import { type TrailReport, verifyTrail } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import type { Cli, CommonOptions } from './command.ts'
import type { Output } from './output.ts'

type Opened = { cli: Cli; io: Output; options: CommonOptions }

/** Runs a command on the audit trail that the environment names. @throws FatalError `configuration` when it names none. */
export async function withAudit<T>({ cli, io, options }: Opened, run: (audit: Audit) => Promise<T>): Promise<T> {
  const { composeAudit } = await import('../compose/audit.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false }, ({ open }) => run(auditOf(open(composeAudit).audit)))
}

function auditOf(audit: Audit | null): Audit {
  if (audit) return audit
  throw new FatalError(
    'No audit trail is recorded: AUDIT_BUCKET is missing; set it to the name of the audit bucket (an output of the stateful ' +
      'stack), or add --local',
    { code: 'configuration' },
  )
}

/** Everything about how far the trail reaches, with what a dead writer left undone done. */
export async function marksOf({ trail }: Audit, signal: AbortSignal) {
  return (await trail.settled(signal)).state.marks
}

type Checking = { signal: AbortSignal; now: number; trustedKeyIds?: readonly string[] | undefined; seen?: () => void }

/**
 * Verifies the trail in its bucket against the head. Unless keys are named, the one that signs here must have signed: a
 * key that lies beside the digests proves nothing.
 */
export async function verifyStored(audit: Audit, { signal, now, trustedKeyIds, seen }: Checking): Promise<TrailReport> {
  return verifyTrail(audit.store, {
    head: () => marksOf(audit, signal),
    now,
    trustedKeyIds: trustedKeyIds ?? [await audit.signer.keyId()],
    ...(seen ? { seen } : {}),
  })
}

/** The recorded steps from one revision to the next; of the wanted revisions alone, if any are named. */
export async function stepsOf(audit: Audit, signal: AbortSignal, wanted?: ReadonlySet<number>): Promise<Step[]> {
  const { trail, index, watch } = audit
  const places = placesOf(await index.at(await marksOf(audit, signal)))
  const only = wanted ? { only: ({ revision }: { revision: number }) => wanted.has(revision) } : {}
  const steps: Step[] = []
  for await (const step of readHistory((at) => trail.read('entries', at), places, { watch, ...only })) steps.push(step)
  return steps
}

/** All findings, the oldest first; one that can't be read is a fault of the trail, and left out. */
export async function findingsOf(audit: Audit, signal: AbortSignal): Promise<Finding[]> {
  const { findings } = await marksOf(audit, signal)
  const found: Finding[] = []
  for await (const { value } of readAhead(range(1, findings.sequence), 16, (at) => audit.trail.read('findings', at))) {
    const object = value && unseal(value)
    if (object) found.push(Finding.parse(object.value))
  }
  return found
}

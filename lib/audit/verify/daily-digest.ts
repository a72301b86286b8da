import type { Clock } from '../../core/clock.ts'
import type { Metrics } from '../../core/metrics.ts'
import { planAppend } from '../trail/append-plan.ts'
import type { Digester } from '../trail/digest.ts'
import { draftFinding, type Finding, type FindingDraft, type FindingKind, readFindings } from '../trail/finding.ts'
import type { TrailReader } from '../trail/ports.ts'
import type { Trail } from '../trail/trail.ts'
import { countsText, verifyTrail } from './verify.ts'
import type { EvidenceFault } from './walk.ts'

/** The result of a day's verification. */
type DailyDigest = { checked: string; faults: number; newFindings: number }

const findingsAtOnce = 100
/** A trail is empty before its first digest, and the digest that follows says so. */
const notYet: EvidenceFault['kind'] = 'nothing_found'

/**
 * Verifies the whole trail, writes what is wrong as findings (each once), and then a digest: also when nothing changed
 * and when something is wrong, since the digest says how far the trail reaches and not that it is whole.
 */
export async function writeDailyDigest(
  { store, trail, digester }: { store: TrailReader; trail: Trail; digester: Digester },
  { clock, metrics, signal }: { clock: Clock; metrics: Metrics; signal: AbortSignal },
): Promise<DailyDigest> {
  const head = async () => (await trail.recoverHead(signal)).state.heads
  const verification = await verifyTrail(store, { head, now: clock.now() })
  const observedAt = new Date(clock.now()).toISOString()
  const faults = verification.faults.filter(({ kind }) => kind !== notYet)
  const drafts = faults.map((fault) => draftOf(fault, observedAt))
  let newFindings = 0
  await trail.append(async (heads) => {
    const known = new Set<string>()
    const numbers = { first: 1, last: heads.findings.sequence }
    for await (const finding of readFindings((at) => trail.read('findings', at), numbers)) known.add(nameOf(finding))
    const findings = drafts.filter((draft) => !known.has(nameOf(draft))).slice(0, findingsAtOnce)
    newFindings = findings.length
    return planAppend(heads, { findings })
  }, signal)
  await digester.write(signal)
  metrics.count('AuditDigests', 1)
  metrics.count('AuditFindings', newFindings)
  return { checked: countsText(verification), faults: faults.length, newFindings }
}

const kinds: Partial<Record<EvidenceFault['kind'], FindingKind>> = {
  fork: 'chain_fork',
  digest_missing: 'digest_missing',
}

function draftOf({ kind, place, message }: EvidenceFault, observedAt: string): FindingDraft {
  return draftFinding(
    kinds[kind] ?? 'trail_damaged',
    { runId: null, scanId: null, observedAt },
    { place, message: `${place} ${message} (${kind}).` },
  )
}

/** One lapse reads differently once the late digest is there, and is the same lapse. */
function nameOf({ kind, place, message }: Pick<Finding, 'kind' | 'place' | 'message'>) {
  return kind === 'digest_missing' ? `${kind} ${place}` : `${kind} ${place} ${message}`
}

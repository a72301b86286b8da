import type { Clock } from '../../core/clock.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Audit } from '../audit.ts'
import { chainBatch } from '../trail/chain.ts'
import { draftFinding, Finding, type FindingDraft, type FindingKind } from '../trail/finding.ts'
import { range, readAhead } from '../trail/read-ahead.ts'
import { unseal } from '../trail/sealed.ts'
import { countsText, verifyTrail } from './verify.ts'
import type { Fault } from './walk.ts'

/** What a day's look at the trail came to. */
type DailyDigest = { checked: string; faults: number; newFindings: number }

const findingsAtOnce = 100
/** A trail is empty before its first digest, and the digest that follows says so. */
const notYet: Fault['kind'] = 'nothing_found'

/**
 * Verifies the whole trail, writes what is wrong as findings (each once), and then a digest: also when nothing changed
 * and when something is wrong, since the digest says how far the trail reaches and not that it is whole.
 */
export async function writeDailyDigest(
  { store, trail, digester }: Audit,
  { clock, metrics, signal }: { clock: Clock; metrics: Metrics; signal: AbortSignal },
): Promise<DailyDigest> {
  const head = async () => (await trail.settled(signal)).state.marks
  const report = await verifyTrail(store, { head, now: clock.now() })
  const observedAt = new Date(clock.now()).toISOString()
  const faults = report.faults.filter(({ kind }) => kind !== notYet)
  const drafts = faults.map((fault) => draftOf(fault, observedAt))
  let newFindings = 0
  await trail.append(async (marks) => {
    const known = await knownFaults(marks.findings.sequence, (at) => trail.read('findings', at))
    const findings = drafts.filter((draft) => !known.has(nameOf(draft))).slice(0, findingsAtOnce)
    newFindings = findings.length
    return chainBatch(marks, { findings })
  }, signal)
  await digester.write(signal)
  metrics.count('AuditDigests', 1)
  metrics.count('AuditFindings', newFindings)
  return { checked: countsText(report), faults: faults.length, newFindings }
}

const kinds: Partial<Record<Fault['kind'], FindingKind>> = { fork: 'chain_fork', digest_missing: 'digest_missing' }

function draftOf({ kind, place, message }: Fault, observedAt: string): FindingDraft {
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

async function knownFaults(
  last: number,
  read: (sequence: number) => Promise<Uint8Array | null>,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for await (const { value } of readAhead(range(1, last), 16, read)) {
    const object = value && unseal(value)
    if (object) known.add(nameOf(Finding.parse(object.value)))
  }
  return known
}

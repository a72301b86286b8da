import { FatalError } from '../../core/errors.ts'
import { type Marks, newHead } from '../trail/head.ts'
import type { AuditHead, TrailReader } from '../trail/ports.ts'
import { genesis } from '../trail/sealed.ts'
import { faultsText, type TrailReport, verifyTrail } from './verify.ts'

/** What comes after the newest digest is vouched for by nothing but the head that is lost. */
const tolerated = new Set(['unsigned'])

/**
 * Writes a head that was lost or set back anew, from the stored objects. Entries after the newest digest are taken as
 * they stand: their hashes and links are right, but nothing vouches that none is missing at the end.
 * @throws FatalError `damaged_state` when the stored chains have faults, `usage` when the head is no shorter than they.
 */
export async function restoreHead(store: TrailReader, head: AuditHead): Promise<{ marks: Marks; report: TrailReport }> {
  const before = await head.read()
  const report = await verifyTrail(store)
  const faults = report.faults.filter(({ kind }) => !tolerated.has(kind))
  if (faults.length > 0) {
    const message = `the stored trail has ${faultsText(faults)}, first ${faults[0]?.place}: ${faults[0]?.message}. Mend them first`
    throw new FatalError(message, { code: 'damaged_state' })
  }
  const { newest } = report.digests
  const marks: Marks = {
    entries: markOf(report.entries.last),
    findings: markOf(report.findings.last),
    digests: newest ? { sequence: newest.sequence, hash: newest.hash } : { sequence: 0, hash: genesis },
  }
  const { state, version } = before ?? { state: newHead(), version: 0 }
  const isBehind = (['entries', 'findings', 'digests'] as const).some(
    (series) => state.marks[series].sequence < marks[series].sequence,
  )
  if (!isBehind)
    throw new FatalError('The head reaches as far as what is stored: there is nothing to restore.', { code: 'usage' })
  if (!(await head.write({ ...state, marks, pending: null }, version)))
    throw new FatalError('Someone else has written the head meanwhile: verify, and look again.', {
      code: 'damaged_state',
    })
  return { marks, report }
}

function markOf({ sequence, hash }: { sequence: number; hash: string }) {
  return sequence === 0 ? { sequence, hash: genesis } : { sequence, hash }
}

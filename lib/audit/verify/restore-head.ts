import { FatalError } from '../../core/errors.ts'
import { type ChainHead, type ChainHeads, emptyChain, newHead } from '../trail/head.ts'
import type { HeadStore, TrailReader } from '../trail/ports.ts'
import { chainNames } from '../trail/sealed.ts'
import { faultsText, type Verification, verifyTrail } from './verify.ts'

/** Entries after the newest digest are vouched for by nothing but the head that is lost. */
const tolerated = new Set(['unsigned'])

/**
 * Writes a head that was lost or set back anew, from the stored objects. Entries after the newest digest are taken as
 * they stand: their hashes and links are right, but nothing vouches that none is missing at the end.
 * @throws FatalError `damaged_state` when the stored chains have faults, `usage` when the head is no shorter than they.
 */
export async function restoreHead(
  store: TrailReader,
  head: HeadStore,
): Promise<{ heads: ChainHeads; verification: Verification }> {
  const before = await head.read()
  const verification = await verifyTrail(store)
  const faults = verification.faults.filter(({ kind }) => !tolerated.has(kind))
  if (faults.length > 0) {
    const message = `the stored trail has ${faultsText(faults)}, first ${faults[0]?.place}: ${faults[0]?.message}. Mend them first`
    throw new FatalError(message, { code: 'damaged_state' })
  }
  const { newest } = verification.digests
  const heads: ChainHeads = {
    entries: headOf(verification.entries.last),
    findings: headOf(verification.findings.last),
    digests: newest ? { sequence: newest.sequence, hash: newest.hash } : emptyChain(),
  }
  const { state, version } = before ?? { state: newHead(), version: 0 }
  const isBehind = chainNames.some((chain) => state.heads[chain].sequence < heads[chain].sequence)
  if (!isBehind)
    throw new FatalError('The head reaches as far as what is stored: there is nothing to restore.', { code: 'usage' })
  if (!(await head.write({ ...state, heads, pending: null }, version)))
    throw new FatalError('Someone else has written the head meanwhile: verify, and look again.', {
      code: 'damaged_state',
    })
  return { heads, verification }
}

/** A chain in which nothing was found has no hash to state. */
function headOf(last: ChainHead): ChainHead {
  return last.sequence === 0 ? emptyChain() : last
}

import type { ChainHeads } from '../trail/head.ts'
import type { TrailReader } from '../trail/ports.ts'
import { type ChainName, chainNames, keyOf, prefixOf } from '../trail/sealed.ts'
import { type Anchor, createAnchorCheck } from './anchor.ts'
import { type ChainVerifier, type CheckedChain, createChainVerifier } from './chain-verifier.ts'
import { type CheckedDigest, checkDigests } from './check-digests.ts'
import { createOlderSignatures } from './signature-forms.ts'
import { type EvidenceFault, type EvidenceNote, takeInventory } from './walk.ts'

/** The result of a verification. The trail holds when there is no fault. */
export type Verification = {
  entries: CheckedChain
  findings: CheckedChain
  digests: { checked: number; newest: CheckedDigest | null; keyIds: string[] }
  /** Entries after the newest digest: the head vouches for them, but no signature does yet. */
  unsignedEntries: number
  faults: EvidenceFault[]
  /** What the evidence can't show, though it has no fault. */
  notes: EvidenceNote[]
}

/** Facts known from elsewhere, against which the stored evidence is checked. */
export type VerifyOptions = {
  /** Reads the head of the trail; left out for a copy, for which digests alone vouch. */
  head?: () => Promise<ChainHeads>
  /** Ids of the keys that may sign; left out: any key that lies beside the digests, which the reader must compare. */
  trustedKeyIds?: readonly string[]
  /** Unix ms at which a digest may be overdue; left out for a copy, which was made at another time. */
  now?: number
  /** What the trail must reach at least. */
  anchor?: Anchor
}

/**
 * Verifies a trail from its stored bytes: every object's hash, name, place and link, every digest's signature, and that
 * what digests (and the head, where it is at hand) vouch for is all there. Reads each object once, in order.
 */
export async function verifyTrail(reader: TrailReader, options: VerifyOptions = {}): Promise<Verification> {
  const faults: EvidenceFault[] = []
  const report = (fault: EvidenceFault) => faults.push(fault)
  const heads = await options.head?.()
  const inventory = await takeInventory(reader, report)
  const open = (chain: ChainName) => createChainVerifier(reader, chain, { keys: inventory[chain], report })
  const entries = open('entries')
  const findings = open('findings')

  const { head: _, anchor = {}, ...trust } = options
  const [anchored, older] = [createAnchorCheck(anchor), createOlderSignatures()]
  const digests = { checked: 0, newest: null as CheckedDigest | null, keyIds: new Set<string>() }
  for await (const digest of checkDigests(reader, { ...trust, inventory, report, head: heads?.digests })) {
    digests.checked += 1
    digests.newest = digest
    digests.keyIds.add(digest.keyId)
    anchored.take(digest)
    older.take(digest)
    await entries.verifyUpTo(digest.head.entries, digest.key)
    await findings.verifyUpTo(digest.head.findings, digest.key)
  }
  const ends = await verifyEnds({ entries, findings }, { heads, options, newest: digests.newest, report })
  if (faults.length === 0 && ends.entries.checked + ends.findings.checked + digests.checked === 0) {
    report({ kind: 'nothing_found', place: 'audit/', message: 'holds no entry and no digest; nothing can be verified' })
  }
  faults.push(...anchored.faults())
  return {
    ...ends,
    digests: { ...digests, keyIds: [...digests.keyIds] },
    unsignedEntries: Math.max(0, ends.entries.last.sequence - (digests.newest?.head.entries.sequence ?? 0)),
    faults,
    notes: older.notes(),
  }
}

type EndContext = {
  heads: ChainHeads | undefined
  options: VerifyOptions
  newest: CheckedDigest | null
  report: (fault: EvidenceFault) => void
}

/** Verifies what lies after the newest digest: the head must vouch for it. */
async function verifyEnds(chains: { entries: ChainVerifier; findings: ChainVerifier }, context: EndContext) {
  const { heads, options, newest, report } = context
  const result = {} as Record<'entries' | 'findings', CheckedChain>
  for (const chain of ['entries', 'findings'] as const) {
    if (heads) await chains[chain].verifyUpTo(heads[chain], 'the head in the state table')
    result[chain] = await chains[chain].finish()
  }
  // A recorder may have gone on since the head was read.
  const latest = heads && (await options.head?.())
  for (const chain of ['entries', 'findings'] as const) {
    const vouched = latest?.[chain].sequence ?? newest?.head[chain].sequence ?? 0
    const { sequence } = result[chain].last
    if (sequence > vouched) report(beyond(chain, { from: vouched + 1, to: sequence, hasHead: latest !== undefined }))
  }
  return result
}

function beyond(
  chain: ChainName,
  { from, to, hasHead }: { from: number; to: number; hasHead: boolean },
): EvidenceFault {
  return {
    kind: hasHead ? 'unexpected' : 'unsigned',
    place: from === to ? keyOf(chain, from) : `${keyOf(chain, from)} to ${keyOf(chain, to)}`,
    message: hasHead
      ? 'was not written by the recorder: the head ends before it'
      : 'comes after the newest digest, so that nothing vouches for it; verify again with the next digest',
  }
}

/** What a verification without a fault shows, and how far: nothing stored says what came after the newest digest. */
export function verdictOf({
  digests: { newest },
}: {
  digests: { newest: Pick<CheckedDigest, 'sequence' | 'writtenAt'> | null }
}): string {
  return newest
    ? `The evidence is complete and unaltered up to digest ${newest.sequence} of ${newest.writtenAt}.`
    : 'Nothing is altered, but no signature vouches for it yet.'
}

/** A text such as "1 fault" or "2 faults". */
export function faultsText({ length }: readonly EvidenceFault[]): string {
  return `${length} fault${length === 1 ? '' : 's'}`
}

/** The number of objects of each chain, for a line of text. */
export function countsText({ entries, findings, digests }: Verification): string {
  return chainNames
    .map((chain) => `${{ entries, findings, digests }[chain].checked} ${prefixOf(chain).split('/')[1]}`)
    .join(', ')
}

import { allSeries, type Mark, type Marks } from '../trail/head.ts'
import type { TrailReader } from '../trail/ports.ts'
import { keyOf, prefixOf, type Series } from '../trail/sealed.ts'
import { type ChainCursor, openChain } from './chain-cursor.ts'
import { type CheckedDigest, checkDigests } from './check-digests.ts'
import { takeInventory } from './inventory.ts'
import type { Fault, Walked } from './walk.ts'

/** What a verification found. It holds when there is no fault. */
export type TrailReport = {
  entries: ChainReport
  findings: ChainReport
  digests: { checked: number; newest: CheckedDigest | null; keyIds: string[] }
  /** Entries after the newest digest: the head vouches for them, but no signature does yet. */
  unsignedEntries: number
  faults: Fault[]
}

/** How many objects of a chain were checked, and which is the last. */
type ChainReport = { checked: number; last: Mark }

/** What is known from elsewhere, and against which the stored evidence is checked. */
export type VerifyOptions = {
  /** Reads the head of the trail; left out for a copy, for which digests alone vouch. */
  head?: () => Promise<Marks>
  /** Ids of the keys that may sign; left out: any key that lies beside the digests, which the reader must compare. */
  trustedKeyIds?: readonly string[]
  /** Unix ms at which a digest may be overdue; left out for a copy, which was made at another time. */
  now?: number
  /** Is told of every entry and finding, for progress and for those who read along. */
  seen?: (series: Series, object: Walked) => void
}

/**
 * Verifies a trail from its stored bytes: every object's hash, name, place and link, every digest's signature, and that
 * what digests (and the head, where it is at hand) vouch for is all there. Reads each object once, in order.
 */
export async function verifyTrail(reader: TrailReader, options: VerifyOptions = {}): Promise<TrailReport> {
  const faults: Fault[] = []
  const report = (fault: Fault) => faults.push(fault)
  const marks = await options.head?.()
  const inventory = await takeInventory(reader, report)
  const open = (series: Series) =>
    openChain(reader, series, { keys: inventory[series], report, seen: (object) => options.seen?.(series, object) })
  const entries = open('entries')
  const findings = open('findings')

  const { head: _, seen: __, ...trust } = options
  const digests = { checked: 0, newest: null as CheckedDigest | null, keyIds: new Set<string>() }
  for await (const digest of checkDigests(reader, { ...trust, inventory, report, head: marks?.digests })) {
    digests.checked += 1
    digests.newest = digest
    digests.keyIds.add(digest.keyId)
    await entries.compare(digest.head.entries, digest.key)
    await findings.compare(digest.head.findings, digest.key)
  }
  const ends = await compareEnds({ entries, findings }, { marks, options, newest: digests.newest, report })
  if (faults.length === 0 && ends.entries.checked + ends.findings.checked + digests.checked === 0) {
    report({ kind: 'nothing_found', place: 'audit/', message: 'holds no entry and no digest; nothing can be verified' })
  }
  return {
    ...ends,
    digests: { ...digests, keyIds: [...digests.keyIds] },
    unsignedEntries: Math.max(0, ends.entries.last.sequence - (digests.newest?.head.entries.sequence ?? 0)),
    faults,
  }
}

type EndContext = {
  marks: Marks | undefined
  options: VerifyOptions
  newest: CheckedDigest | null
  report: (fault: Fault) => void
}

/** What lies after the newest digest: the head must vouch for it. */
async function compareEnds(chains: { entries: ChainCursor; findings: ChainCursor }, context: EndContext) {
  const { marks, options, newest, report } = context
  const result = {} as Record<'entries' | 'findings', ChainReport>
  for (const series of ['entries', 'findings'] as const) {
    if (marks) await chains[series].compare(marks[series], 'the head in the state table')
    result[series] = await chains[series].drain()
  }
  // A recorder may have gone on since the head was read.
  const latest = marks && (await options.head?.())
  for (const series of ['entries', 'findings'] as const) {
    const vouched = latest?.[series].sequence ?? newest?.head[series].sequence ?? 0
    const { sequence } = result[series].last
    if (sequence > vouched) report(beyond(series, { from: vouched + 1, to: sequence, hasHead: latest !== undefined }))
  }
  return result
}

function beyond(series: Series, { from, to, hasHead }: { from: number; to: number; hasHead: boolean }): Fault {
  return {
    kind: hasHead ? 'unexpected' : 'unsigned',
    place: from === to ? keyOf(series, from) : `${keyOf(series, from)} to ${keyOf(series, to)}`,
    message: hasHead
      ? 'was not written by the recorder: the head ends before it'
      : 'comes after the newest digest, so that nothing vouches for it; verify again with the next digest',
  }
}

/** "1 fault", "2 faults". */
export function faultsText({ length }: readonly Fault[]): string {
  return `${length} fault${length === 1 ? '' : 's'}`
}

/** How many objects each chain has, for a line of text. */
export function countsText({ entries, findings, digests }: TrailReport): string {
  return allSeries
    .map((series) => `${{ entries, findings, digests }[series].checked} ${prefixOf(series).split('/')[1]}`)
    .join(', ')
}

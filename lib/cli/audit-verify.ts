import { statSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import type { Anchor } from '../audit/verify/anchor.ts'
import { countsText, faultsText, type Verification, verdictOf, verifyTrail } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import { createTrailFolder } from '../stores/trail-folder.ts'
import { verifyStored, withAuditLook } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import { timeOf } from './times.ts'

/** Ids as they are given one after the other; a key that can be no key must not look like one that did not sign. */
function keyIds(text: string, before: string[] = []): string[] {
  if (/^[0-9a-f]{64}$/i.test(text)) return [...before, text.toLowerCase()]
  throw new InvalidArgumentError('It must be the id of a key: 64 hex digits.')
}

/** The hash of a digest; another text must not look like one that is not there. */
function digestHash(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be the hash of a digest: 64 hex digits.')
}

/** The option that names the keys that may have signed; without it, the key that signs here, or any in a copy. */
export const keyIdOption = [
  '--key-id <id...>',
  'ids of the keys that may have signed, as you know them from elsewhere',
  keyIds,
] as const

/** The source of the keys that signatures were checked against. */
export type KeysFrom = 'arguments' | 'signer' | 'copy'

/** The text before the id of a key that signed. */
const signedBy = {
  arguments: 'Signed by the key that you named:',
  signer: 'Signed by the key that signs here; compare it with what you were told:',
  copy: 'Signed by a key that was taken from the copy itself; compare it with what you were told:',
} as const satisfies Record<KeysFrom, string>

type Options = { from?: string; keyId?: string[]; expect?: string; asOf?: string }

/** `platform-sync audit verify` */
export function addAuditVerify(audit: Command, cli: Cli): void {
  withLocal(audit.command('verify'))
    .description('check every stored byte, signature and link of the audit trail, or of a copy in a folder')
    .option('--from <dir>', 'check a copy of the bucket or an evidence pack in this folder, offline')
    .option(...keyIdOption)
    .option('--expect <hash>', 'the hash of a digest that you noted: the trail must still have it', digestHash)
    .option('--as-of <time>', 'the newest digest must not be older, for example 2026-05-06 or 2026-05-06T10:00:00Z')
    .action(action<Options, []>(cli, (io, options) => verify(cli, io, options)))
}

async function verify(cli: Cli, io: Output, options: Options & CommonOptions): Promise<ExitCode> {
  const { from, keyId, expect, asOf } = options
  const anchor: Anchor = { expect, asOf: asOf === undefined ? undefined : timeOf(asOf) }
  const now = cli.clock.now()
  const verification: Verification & { bareCopy?: boolean } =
    from === undefined
      ? await withAuditLook({ cli, io, options }, (look) => verifyStored(look, { now, trustedKeyIds: keyId, anchor }))
      : await verifyCopy(from, { trustedKeyIds: keyId, anchor })
  const keysFrom = keyId ? 'arguments' : from === undefined ? 'signer' : 'copy'
  sayVerification(verification, { io, keysFrom })
  if (verification.bareCopy) io.say('It is no evidence pack but a bare copy of the bucket.')
  sayAnchor(anchor, { io, isCopy: from !== undefined, holds: verification.faults.length === 0 })
  io.result({ ...verificationJson(verification, keysFrom), expected: { digest: expect ?? null, asOf: asOf ?? null } })
  return verification.faults.length === 0 ? exitCodes.complete : exitCodes.failed
}

type CopyOptions = { trustedKeyIds: string[] | undefined; anchor: Anchor }

/** A copy has no head beside it; a pack has a signed list of its files. */
async function verifyCopy(
  from: string,
  { trustedKeyIds, anchor }: CopyOptions,
): Promise<Verification & { bareCopy: boolean }> {
  if (!statSync(from, { throwIfNoEntry: false })?.isDirectory())
    throw new FatalError(`There is no folder ${from}.`, { code: 'usage' })
  const { checkPack } = await import('../audit/verify/pack.ts')
  const copy = createTrailFolder(from)
  const trust = trustedKeyIds ? { trustedKeyIds } : {}
  const verification = await verifyTrail(copy, { ...trust, anchor })
  const ofPack = await checkPack(copy, trust)
  const { faults = [], notes = [] } = ofPack ?? {}
  return {
    ...verification,
    bareCopy: ofPack === null,
    faults: [...faults, ...verification.faults],
    notes: [...verification.notes, ...notes],
  }
}

/** Says what was compared with what is known from elsewhere, or that a copy needs that. */
function sayAnchor(
  { expect, asOf }: Anchor,
  { io, isCopy, holds }: { io: Output; isCopy: boolean; holds: boolean },
): void {
  if (expect === undefined && asOf === undefined) {
    if (isCopy)
      io.say(
        'A copy that was set back to an earlier day looks the same: compare the hash with one that you noted (--expect), or the ' +
          'time (--as-of).',
      )
    return
  }
  if (!holds) return
  if (expect !== undefined) io.say('It has the digest that you expect.')
  if (asOf !== undefined) io.say('Its newest digest is not older than you expect.')
}

const faultsShown = 50

/** Says what was checked, how far, and every fault with its place. */
export function sayVerification(
  verification: Verification,
  { io, keysFrom }: { io: Output; keysFrom: KeysFrom },
): void {
  const { faults, notes, digests, unsignedEntries } = verification
  io.say(`Checked from the stored bytes: ${countsText(verification)}.`)
  if (digests.newest) {
    const { sequence, writtenAt, head, hash } = digests.newest
    io.say(`Newest digest: number ${sequence} of ${writtenAt}, up to entry ${head.entries.sequence}.`)
    io.say(`Its hash, to keep elsewhere for --expect: ${hash}`)
  } else io.say('No digest with a right signature was found.')
  if (unsignedEntries > 0) io.say(`No signature vouches for the last ${unsignedEntries} entries.`)
  for (const id of digests.keyIds) io.say(`${signedBy[keysFrom]} ${id}`)
  for (const { place, message } of notes) io.say(`${io.style('dim', 'note')}  ${place} ${message}.`)
  for (const { kind, place, message } of faults.slice(0, faultsShown)) {
    io.say(`${io.style('red', kind.replaceAll('_', ' '))}  ${place} ${message}`)
  }
  if (faults.length > faultsShown) io.say(`... and ${faults.length - faultsShown} more faults (--json lists all).`)
  io.say(
    faults.length === 0 ? io.style('green', verdictOf(verification)) : io.style('red', `${faultsText(faults)} found.`),
  )
}

/** The verification for `--json`. */
export function verificationJson(
  { entries, findings, digests, unsignedEntries, faults, notes }: Verification,
  keysFrom: KeysFrom,
): object {
  return {
    ok: faults.length === 0,
    checked: { entries: entries.checked, findings: findings.checked, digests: digests.checked },
    newestDigest: digests.newest && {
      sequence: digests.newest.sequence,
      hash: digests.newest.hash,
      writtenAt: digests.newest.writtenAt,
      head: digests.newest.head,
    },
    keyIds: digests.keyIds,
    keysFrom,
    unsignedEntries,
    faults,
    notes,
  }
}

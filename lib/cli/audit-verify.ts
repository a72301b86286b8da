import { statSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { countsText, faultsText, type Verification, verifyTrail } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import { createTrailFolder } from '../stores/trail-folder.ts'
import { verifyStored, withAudit } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

/** Ids as they are given one after the other; a key that can be no key must not look like one that did not sign. */
function keyIds(text: string, before: string[] = []): string[] {
  if (/^[0-9a-f]{64}$/i.test(text)) return [...before, text.toLowerCase()]
  throw new InvalidArgumentError('It must be the id of a key: 64 hex digits.')
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

type Options = { from?: string; keyId?: string[] }

/** `platform-sync audit verify` */
export function addAuditVerify(audit: Command, cli: Cli): void {
  withLocal(audit.command('verify'))
    .description('check every stored byte, signature and link of the audit trail, or of a copy in a folder')
    .option('--from <dir>', 'check a copy of the bucket or an evidence pack in this folder, offline')
    .option(...keyIdOption)
    .action(action<Options, []>(cli, (io, options) => verify(cli, io, options)))
}

async function verify(cli: Cli, io: Output, options: Options & CommonOptions): Promise<ExitCode> {
  const { from, keyId } = options
  const now = cli.clock.now()
  const verification: Verification & { bareCopy?: boolean } =
    from === undefined
      ? await withAudit({ cli, io, options }, (audit) =>
          verifyStored(audit, { signal: cli.interrupted, now, trustedKeyIds: keyId }),
        )
      : await verifyCopy(from, keyId)
  const keysFrom = keyId ? 'arguments' : from === undefined ? 'signer' : 'copy'
  sayVerification(verification, { io, keysFrom })
  if (verification.bareCopy)
    io.say(
      'This is a bare copy, not an evidence pack: only the date above can tell whether a newer digest was left out.',
    )
  io.result(verificationJson(verification, keysFrom))
  return verification.faults.length === 0 ? exitCodes.complete : exitCodes.failed
}

/** A copy has no head beside it; a pack has a signed list of its files. */
async function verifyCopy(
  from: string,
  trustedKeyIds: string[] | undefined,
): Promise<Verification & { bareCopy: boolean }> {
  if (!statSync(from, { throwIfNoEntry: false })?.isDirectory())
    throw new FatalError(`There is no folder ${from}.`, { code: 'usage' })
  const { checkPack } = await import('../audit/verify/pack.ts')
  const copy = createTrailFolder(from)
  const trust = trustedKeyIds ? { trustedKeyIds } : {}
  const verification = await verifyTrail(copy, trust)
  const ofPack = await checkPack(copy, trust)
  return { ...verification, bareCopy: ofPack === null, faults: [...(ofPack ?? []), ...verification.faults] }
}

const faultsShown = 50

/** Says what was checked, how far, and every fault with its place. */
export function sayVerification(
  verification: Verification,
  { io, keysFrom }: { io: Output; keysFrom: KeysFrom },
): void {
  const { faults, digests, unsignedEntries } = verification
  io.say(`Checked from the stored bytes: ${countsText(verification)}.`)
  if (digests.newest) {
    const { sequence, writtenAt, head } = digests.newest
    io.say(`Newest digest: number ${sequence} of ${writtenAt}, up to entry ${head.entries.sequence}.`)
  } else io.say('No digest with a right signature was found.')
  if (unsignedEntries > 0) io.say(`No signature vouches for the last ${unsignedEntries} entries.`)
  for (const id of digests.keyIds) io.say(`${signedBy[keysFrom]} ${id}`)
  for (const { kind, place, message } of faults.slice(0, faultsShown)) {
    io.say(`${io.style('red', kind.replaceAll('_', ' '))}  ${place} ${message}`)
  }
  if (faults.length > faultsShown) io.say(`... and ${faults.length - faultsShown} more faults (--json lists all).`)
  io.say(
    faults.length === 0
      ? io.style('green', 'The evidence is complete and unaltered.')
      : io.style('red', `${faultsText(faults)} found.`),
  )
}

/** The verification for `--json`. */
export function verificationJson(
  { entries, findings, digests, unsignedEntries, faults }: Verification,
  keysFrom: KeysFrom,
): unknown {
  return {
    ok: faults.length === 0,
    checked: { entries: entries.checked, findings: findings.checked, digests: digests.checked },
    newestDigest: digests.newest && {
      sequence: digests.newest.sequence,
      writtenAt: digests.newest.writtenAt,
      head: digests.newest.head,
    },
    keyIds: digests.keyIds,
    keysFrom,
    unsignedEntries,
    faults,
  }
}

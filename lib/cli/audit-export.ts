import type { Command } from 'commander'
import { createTrailFolder } from '../stores/trail-folder.ts'
import { type Asked, type PageOptions, pageOf, periodOf, withPeriod } from './audit-report.ts'
import { keyIdOption } from './audit-verify.ts'
import { type OpenAudit, withAudit } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { fillFolder } from './out-path.ts'
import { number, type Output } from './output.ts'

type Options = CommonOptions & PageOptions & { out: string }

/** `platform-sync audit export --out DIR` */
export function addAuditExport(audit: Command, cli: Cli): void {
  withPeriod(withLocal(audit.command('export')))
    .description('write an evidence pack that anyone can verify with Node.js alone')
    .requiredOption('--out <dir>', 'an empty folder, or one to create')
    .option(...keyIdOption)
    .action(action<Options, []>(cli, (io, options) => exportTo(cli, io, options)))
}

async function exportTo(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { out } = options
  const period = periodOf(options)
  const fill = (dir: string) =>
    withAudit({ cli, io, options }, (opened) => packOf(opened, { cli, asked: { ...options, period }, dir }))
  const { manifest, keyIds } = await fillFolder(out, { fill, last: ['manifest.json', 'manifest.sig'] })
  const { keyId, head, files } = manifest
  io.say(
    `${out} holds ${number(head.entries.sequence)} entries, ${number(files.length)} files. Whoever gets it runs in it:`,
  )
  const keys = [...new Set([...keyIds, keyId])].map((id) => `--key-id ${id}`).join(' ')
  io.say(`  node verify.mjs ${keys} --expect ${head.digests.hash}`)
  io.say('Tell them the id of the key and the hash of the digest by another way than the pack.')
  io.result({ folder: out, keyId, digest: head.digests.hash, entries: head.entries.sequence, files: files.length })
  return exitCodes.complete
}

type Wanted = { cli: Cli; asked: Omit<Asked, 'now' | 'place'>; dir: string }

async function packOf({ audit, look, place }: OpenAudit, { cli, asked, dir }: Wanted) {
  const { exportPack } = await import('../audit/verify/pack.ts')
  const { clock, interrupted } = cli
  // What no digest covers can't be proved, and would be left out.
  await audit.digester.writeIfDue(interrupted)
  const { html, verification } = await pageOf(look, { ...asked, place, now: clock.now() })
  const extras = [{ path: 'report.html', bytes: Buffer.from(html) }]
  const heads = await look.heads()
  const { signer } = audit
  const manifest = await exportPack({ trail: look.store, out: createTrailFolder(dir), signer, clock, heads, extras })
  return { manifest, keyIds: verification.digests.keyIds }
}

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import type { Audit } from '../audit/audit.ts'
import { faultsText, type Verification } from '../audit/verify/verify.ts'
import { createTrailFolder } from '../stores/trail-folder.ts'
import { keyIdOption } from './audit-verify.ts'
import { diffsOf, findingsOf, headsOf, verifyStored, withAudit } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { atPath, fillFolder } from './out-path.ts'
import { number, type Output } from './output.ts'

type Options = CommonOptions & { out: string; keyId?: string[] }

/** `platform-sync audit report --out FILE.html` */
export function addAuditReport(audit: Command, cli: Cli): void {
  withLocal(audit.command('report'))
    .description('write one page for an auditor: verification, findings, who changed what when')
    .requiredOption('--out <file>', 'the HTML file to write')
    .option(...keyIdOption)
    .action(action<Options, []>(cli, (io, options) => report(cli, io, options)))
}

/** `platform-sync audit export --out DIR` */
export function addAuditExport(audit: Command, cli: Cli): void {
  withLocal(audit.command('export'))
    .description('write an evidence pack that anyone can verify with Node.js alone')
    .requiredOption('--out <dir>', 'an empty folder, or one to create')
    .option(...keyIdOption)
    .action(action<Options, []>(cli, (io, options) => exportTo(cli, io, options)))
}

async function report(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { html, verification } = await withAudit({ cli, io, options }, (audit) => pageOf(audit, cli, options))
  await atPath(options.out, async (out) => {
    await mkdir(dirname(out), { recursive: true })
    await writeFile(out, html)
  })
  const { faults } = verification
  io.say(`${options.out} is written: open it in a browser, or print it.`)
  if (faults.length > 0) io.say(io.style('red', `It lists ${faultsText(faults)} of the evidence.`))
  io.result({ file: options.out, faults: faults.length })
  return faults.length === 0 ? exitCodes.complete : exitCodes.failed
}

async function exportTo(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { out } = options
  const fill = (dir: string) => withAudit({ cli, io, options }, (audit) => packOf(audit, { cli, options, dir }))
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

async function packOf(audit: Audit, { cli, options, dir }: { cli: Cli; options: Options; dir: string }) {
  const { exportPack } = await import('../audit/verify/pack.ts')
  const { clock, interrupted } = cli
  // What no digest covers can't be proved, and would be left out.
  await audit.digester.writeIfDue(interrupted)
  const { html, verification } = await pageOf(audit, cli, options)
  const extras = [{ path: 'report.html', bytes: Buffer.from(html) }]
  const heads = await headsOf(audit, interrupted)
  const { store: trail, signer } = audit
  const manifest = await exportPack({ trail, out: createTrailFolder(dir), signer, clock, heads, extras })
  return { manifest, keyIds: verification.digests.keyIds }
}

async function pageOf(
  audit: Audit,
  { clock, interrupted: signal }: Cli,
  { keyId }: Options,
): Promise<{ html: string; verification: Verification }> {
  const { renderReport } = await import('../audit/report/report.ts')
  const now = clock.now()
  const verification = await verifyStored(audit, { signal, now, trustedKeyIds: keyId })
  const [diffs, findings] = [await diffsOf(audit, signal), await findingsOf(audit, signal)]
  const writtenAt = new Date(now).toISOString()
  return { html: renderReport({ writtenAt, verification, trustedKeyIds: keyId ?? [], findings, diffs }), verification }
}

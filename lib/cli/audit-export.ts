import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import type { Audit } from '../audit/audit.ts'
import { createFolderStore } from '../audit/folder.ts'
import type { TrailReport } from '../audit/verify.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import { findingsOf, marksOf, stepsOf, verifyStored, withAudit } from './audit-session.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output } from './output.ts'

type Options = CommonOptions & { out: string }

/** `platform-sync audit report --out FILE.html` */
export const addAuditReport = (audit: Command, cli: Cli): void => {
  withLocal(audit.command('report'))
    .description('write one page for an auditor: verification, findings, who changed what when')
    .requiredOption('--out <file>', 'the HTML file to write')
    .action(action<Options, []>(cli, (io, options) => report(cli, io, options)))
}

/** `platform-sync audit export --out DIR` */
export const addAuditExport = (audit: Command, cli: Cli): void => {
  withLocal(audit.command('export'))
    .description('write an evidence pack that anyone can verify with Node.js alone')
    .requiredOption('--out <dir>', 'an empty folder, or one to create')
    .action(action<Options, []>(cli, (io, options) => exportTo(cli, io, options)))
}

const report = async (cli: Cli, io: Output, options: Options): Promise<ExitCode> => {
  const { html, verification } = await withAudit({ cli, io, options }, (audit) => pageOf(audit, cli))
  await atPath(options.out, async (out) => {
    await mkdir(dirname(out), { recursive: true })
    await writeFile(out, html)
  })
  const faults = verification.faults.length
  io.say(`${options.out} is written: open it in a browser, or print it.`)
  if (faults > 0) io.say(io.style('red', `It lists ${faults} faults of the evidence.`))
  io.result({ file: options.out, faults })
  return exitCodes.complete
}

const exportTo = async (cli: Cli, io: Output, options: Options): Promise<ExitCode> => {
  const { out } = options
  const inIt = await atPath(out, async () => {
    await mkdir(out, { recursive: true })
    return readdir(out)
  })
  if (inIt.length > 0)
    throw new FatalError(`${out} is not empty: name a new folder, so that nothing foreign gets into the pack.`, {
      code: 'usage',
    })
  const { exportPack } = await import('../audit/pack.ts')
  const manifest = await withAudit({ cli, io, options }, async (audit) => {
    const { clock, interrupted } = cli
    // What no digest covers can't be proved, and would be left out.
    await audit.digester.writeIfDue(interrupted)
    const { html } = await pageOf(audit, cli)
    const extras = [{ path: 'report.html', bytes: Buffer.from(html) }]
    const marks = await marksOf(audit, interrupted)
    return exportPack({ trail: audit.store, out: createFolderStore(out), signer: audit.signer, clock, marks, extras })
  })
  const { keyId, head, files } = manifest
  io.say(
    `${out} holds ${number(head.entries.sequence)} entries, ${number(files.length)} files. Whoever gets it runs in it:`,
  )
  io.say(`  node verify.mjs --key-id ${keyId}`)
  io.say('Tell them the key id by another way than the pack.')
  io.result({ folder: out, keyId, entries: head.entries.sequence, files: files.length })
  return exitCodes.complete
}

/** What the user named can't be written: that is no fault of ours, and needs no stack. */
const atPath = async <T>(out: string, write: (out: string) => Promise<T>): Promise<T> => {
  try {
    return await write(out)
  } catch (cause) {
    throw new FatalError(`${out} can't be written: ${messageOf(cause)}`, { code: 'usage', cause })
  }
}

const pageOf = async (
  audit: Audit,
  { clock, interrupted: signal }: Cli,
): Promise<{ html: string; verification: TrailReport }> => {
  const { renderReport } = await import('../audit/report.ts')
  const now = clock.now()
  const verification = await verifyStored(audit, { signal, now })
  const [steps, findings] = [await stepsOf(audit, signal), await findingsOf(audit, signal)]
  const writtenAt = new Date(now).toISOString()
  return { html: renderReport({ writtenAt, verification, trustedKeyIds: [], findings, steps }), verification }
}

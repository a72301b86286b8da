import { type Command, InvalidArgumentError } from 'commander'
import type { AuditLook } from '../audit/look.ts'
import { daysFromTo, historyIn, type Period, quarterOf } from '../audit/report/period.ts'
import type { TrailPlace } from '../audit/report/report.ts'
import { faultsText, type Verification } from '../audit/verify/verify.ts'
import { FatalError } from '../core/errors.ts'
import { keyIdOption } from './audit-verify.ts'
import { findingsOf, revisionsOf, verifyStored, withAuditLook } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { writeAt } from './out-path.ts'
import type { Output } from './output.ts'
import { dayOf } from './times.ts'

/** What a page for an auditor may be asked for. */
export type PageOptions = { from?: string; to?: string; quarter?: Period; keyId?: string[] }

type Options = CommonOptions & PageOptions & { out: string }

function quarter(text: string): Period {
  const period = quarterOf(text)
  if (period) return period
  throw new InvalidArgumentError('It must be a quarter, for example 2026Q3.')
}

/** Adds the options that say which time the page is about. */
export function withPeriod(command: Command): Command {
  return command
    .option('--from <day>', 'only what was changed on this day (UTC) or later, for example 2026-07-01')
    .option('--to <day>', 'only what was changed on this day (UTC) or before')
    .option('--quarter <quarter>', 'only what was changed in a quarter, for example 2026Q3', quarter)
}

/** `platform-sync audit report --out FILE.html` */
export function addAuditReport(audit: Command, cli: Cli): void {
  withPeriod(withLocal(audit.command('report')))
    .description('write one page for an auditor: whether the record holds, findings, who changed what, the settings')
    .requiredOption('--out <file>', 'the HTML file to write')
    .option(...keyIdOption)
    .action(action<Options, []>(cli, (io, options) => report(cli, io, options)))
}

async function report(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const period = periodOf(options)
  const { html, verification } = await withAuditLook({ cli, io, options }, (look, place) =>
    pageOf(look, { ...options, period, place, now: cli.clock.now() }),
  )
  await writeAt(options.out, html)
  const { faults } = verification
  io.say(`${options.out} is written: open it in a browser, or print it.`)
  if (faults.length > 0) io.say(io.style('red', `It lists ${faultsText(faults)} of the evidence.`))
  io.result({ file: options.out, faults: faults.length })
  return faults.length === 0 ? exitCodes.complete : exitCodes.failed
}

/** The period that options name. @throws FatalError `usage` when they name none. */
export function periodOf({ from, to, quarter }: PageOptions): Period {
  if (quarter && (from !== undefined || to !== undefined)) {
    throw new FatalError('Say either --quarter, or --from and --to.', { code: 'usage' })
  }
  if (quarter) return quarter
  const [first, last] = [from, to].map((text) => (text === undefined ? null : dayOf(text))) as [
    number | null,
    number | null,
  ]
  if (first !== null && last !== null && first > last) {
    throw new FatalError(`--from ${from} is later than --to ${to}: change one of them.`, { code: 'usage' })
  }
  return daysFromTo(first, last)
}

/** A page that is asked for. `now` is Unix ms. */
export type Asked = { now: number; period: Period; place: TrailPlace; keyId?: string[] }

/** The page on a period, with the verification that it shows. */
export async function pageOf(
  look: AuditLook,
  { now, period, place, keyId = [] }: Asked,
): Promise<{ html: string; verification: Verification }> {
  const { renderReport } = await import('../audit/report/report.ts')
  const trustedKeyIds = keyId.length > 0 ? keyId : undefined
  const verification = await verifyStored(look, { now, trustedKeyIds })
  const history = await historyIn(period, await revisionsOf(look))
  const findings = await findingsOf(look)
  const writtenAt = new Date(now).toISOString()
  const html = renderReport({ writtenAt, period, place, verification, trustedKeyIds: keyId, findings, history })
  return { html, verification }
}

/** The page on all that is recorded; null where nothing ever was. */
export async function makeAuditPage(
  { look, place }: { look: AuditLook | null; place: TrailPlace },
  now: number,
): Promise<string | null> {
  if (look === null || (await look.store.list('audit/')).length === 0) return null
  return (await pageOf(look, { now, place, period: daysFromTo(null, null) })).html
}

import type { Command } from 'commander'
import { FatalError } from '../core/errors.ts'
import { action, type Cli, type CommonOptions, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Output, plain, time } from './output.ts'
import { monthMs, timeOf } from './times.ts'

/** Adds the commands `platform-sync limits ...` that answer for limits: who has what, since when, and because of whom. */
export function addAnswers(limits: Command, cli: Cli): void {
  withLocal(limits.command('history'))
    .description('show every limit that somebody had, who asked for it and why, and what the platform said')
    .argument('<address>', "somebody's e-mail address")
    .option('--most <n>', 'only the newest so many', wholeNumber({ min: 1, max: 1_000_000 }), 100)
    .action(
      action<{ most: number }, [string]>(cli, (io, options, address) => history(cli, io, { ...options, address })),
    )
  withLocal(limits.command('rollback'))
    .description('plan to set back what a plan changed, as far as nothing newer changed it, and save that as a plan')
    .argument('<plan>', 'the id of a plan that was applied, by the command line, a file or a policy')
    .option('--unknown <limit>', 'what to set where nothing was known of the limit before', limitNumber)
    .option('--since <time>', 'when it was applied, or earlier; the last 30 days without it')
    .option('--all', 'list every row')
    .action(action<RollbackOptions, [string]>(cli, (io, options, id) => rollback(cli, io, { ...options, id })))
  withLocal(limits.command('report'))
    .description('write one page on the limits: who has what and why, what changed, waits, ends soon or was refused')
    .requiredOption('--out <file>', 'the HTML file to write')
    .option('--since <time>', 'the changes since then; the last 30 days without it')
    .action(action<ReportOptions, []>(cli, (io, options) => report(cli, io, options)))
}

const limitNumber = wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })

type RollbackOptions = { unknown?: number; since?: string; all?: boolean }

async function rollback(
  cli: Cli,
  io: Output,
  options: CommonOptions & RollbackOptions & { id: string },
): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { saveRows } = await import('./limits-saved-plans.ts')
  const { exitCodeOfPlan, sayNext, sayPlan, shownRows } = await import('./limits-plan.ts')
  const { changesOfPlan, rollbackRows } = await import('../limits/intake/rollback.ts')
  const { id, unknown } = options
  const now = cli.clock.now()
  const from = options.since === undefined ? now - monthMs : timeOf(options.since)
  return withLimits(cli, { io, options, platform: false }, async (opened) => {
    const { reader } = opened.limits
    const changes = await changesOfPlan(id, { reader, from, to: now + 1 })
    if (changes.length === 0) throw nothingApplied(id, from)
    const states = await reader.statesWithPending(changes.map(({ identity }) => identity))
    const rows = rollbackRows(id, changes, { states, unknown })
    const saved = await saveRows({ source: `rollback of plan ${id}`, rows, states }, opened)
    sayPlan(saved, { io, most: options.all ? Number.POSITIVE_INFINITY : shownRows })
    if (saved.plan.changes.length > 0) sayNext(saved, io)
    else io.say('\nNothing can be set back, so that there is nothing to apply.')
    const { plan, ...more } = saved
    io.result({ ...plan, ...more })
    return exitCodeOfPlan(saved)
  })
}

function nothingApplied(id: string, from: number): FatalError {
  const message = `Plan ${plain(id)} changed nothing since ${time(from)}. "limits history <address>" names the plans behind a limit; "--since" looks further back.`
  return new FatalError(message, { code: 'usage' })
}

type ReportOptions = { out: string; since?: string }

async function report(cli: Cli, io: Output, options: CommonOptions & ReportOptions): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { writeLimitsReport } = await import('./limits-report.ts')
  const now = cli.clock.now()
  const since = options.since === undefined ? now - monthMs : timeOf(options.since)
  return withLimits(cli, { io, options, platform: false, looks: true }, async (opened) => {
    const written = await writeLimitsReport(options.out, { opened, now, since })
    io.say(`${written.file} is written: open it in a browser, or print it.`)
    io.result(written)
    return exitCodes.complete
  })
}

type HistoryOptions = CommonOptions & { address: string; most: number }

async function history(cli: Cli, io: Output, options: HistoryOptions): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { findHistory, sayHistory } = await import('./limits-history.ts')
  return withLimits(cli, { io, options, platform: false, looks: true }, async ({ limits }) => {
    const found = await findHistory(options.address, { reader: limits.reader, most: options.most })
    sayHistory(found, io)
    io.result(found)
    return exitCodes.complete
  })
}

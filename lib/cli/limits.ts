import { type Command, InvalidArgumentError } from 'commander'
import { FatalError } from '../core/errors.ts'
import { faultOfUntil } from '../limits/until.ts'
import { action, type Cli, type CommonOptions, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { addAnswers } from './limits-answers.ts'
import type { OutcomeOptions } from './limits-outcomes.ts'
import { addLimitsPolicy } from './limits-policy.ts'
import { number, type Output } from './output.ts'
import { timeOf } from './times.ts'

/** Adds the commands `platform-sync limits ...`. */
export function addLimits(program: Command, cli: Cli): void {
  const limits = program.command('limits').description('set credit limits of users, and see what became of them')
  withLocal(limits.command('plan'))
    .description('say what a file with the columns email and limit would change, and save that as a plan')
    .argument('<file>', 'a CSV file, or an Excel workbook (.xlsx)')
    .option('--all', 'list every row')
    .option(
      '--until <time>',
      'until when its limits stand against a policy, where the column until says nothing',
      untilOf,
    )
    .action(
      action<{ all?: boolean; until?: string }, [string]>(cli, (io, options, file) =>
        plan(cli, io, { ...options, file }),
      ),
    )
  withLocal(limits.command('apply'))
    .description('apply a saved plan and no other, and wait for its outcomes')
    .argument('<plan>', 'the id that "limits plan" printed')
    .option('--wait <minutes>', 'how long to wait for outcomes', wholeNumber({ min: 1, max: 720 }), 15)
    .option('--all', 'send the rows that stand already, too')
    .option('--as <name>', 'who asks, for the record (the account on this machine)')
    .option('--reason <text>', 'why, for the record')
    .action(action<ApplyOptions, [string]>(cli, (io, options, id) => apply(cli, io, { ...options, id })))
  addLimitsPolicy(limits, cli)
  withLocal(limits.command('outcomes'))
    .description('show how entries ended, of the last 7 days unless said otherwise')
    .option('--failed', 'only those that somebody should look at')
    .option('--email <address>', 'only those of one address, whenever they were')
    .option('--since <time>', 'only those recorded since, for example 2026-05-06 or 2026-05-06T10:00:00Z')
    .action(action<OutcomeOptions, []>(cli, (io, options) => outcomes(cli, io, options)))
  withLocal(limits.command('redrive'))
    .description('put dead letters back on the queue')
    .action(action<unknown, []>(cli, (io, options) => redrive(cli, io, options)))
  withLocal(limits.command('export'))
    .description('write the limits that the ledger knows as a CSV file that "limits plan" reads')
    .action(action<unknown, []>(cli, (io, options) => exportLimits(cli, io, options)))
  addAnswers(limits, cli)
}

type PlanOptions = { file: string; all?: boolean; until?: string }
type ApplyOptions = { wait: number; all?: boolean; as?: string; reason?: string }

function untilOf(text: string): string {
  const fault = faultOfUntil(text)
  if (fault !== null) throw new InvalidArgumentError(`It is none: ${fault}.`)
  return text
}

async function plan(cli: Cli, io: Output, options: CommonOptions & PlanOptions): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { savePlan } = await import('./limits-saved-plans.ts')
  const { exitCodeOfPlan, sayNext, sayPlan, shownRows } = await import('./limits-plan.ts')
  return withLimits(cli, { io, options, platform: false }, async (opened) => {
    const saved = await savePlan(options.file, opened, options.until)
    sayPlan(saved, { io, most: options.all ? Number.POSITIVE_INFINITY : shownRows })
    sayNext(saved, io)
    const { plan, ...more } = saved
    io.result({ ...plan, ...more })
    return exitCodeOfPlan(saved)
  })
}

async function apply(cli: Cli, io: Output, options: CommonOptions & ApplyOptions & { id: string }): Promise<ExitCode> {
  const { wait, all = false, as, reason } = options
  const { withLimits } = await import('./limits-workspace.ts')
  const { loadPlan } = await import('./limits-saved-plans.ts')
  const { applyPlan } = await import('./limits-apply.ts')
  return withLimits(cli, { io, options, platform: true }, async (opened) => {
    const saved = await loadPlan(options.id, opened.plans)
    const record = { ...(as ? { as } : {}), ...(reason ? { reason } : {}) }
    const { code } = await applyPlan(saved, cli, { ...{ opened, io, waitMs: wait * 60_000, all }, ...record })
    return code
  })
}

async function outcomes(cli: Cli, io: Output, options: CommonOptions & OutcomeOptions): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { findOutcomes, sayOutcomes } = await import('./limits-outcomes.ts')
  const since = options.since === undefined ? undefined : timeOf(options.since)
  return withLimits(cli, { io, options, platform: false, looks: true }, async ({ limits }) => {
    const found = await findOutcomes(options, { reader: limits.reader, since, now: cli.clock.now() })
    if (found.length > 0) sayOutcomes(found, { io, most: 200 })
    io.say(`${found.length > 0 ? '\n' : ''}${number(found.length)} outcome${found.length === 1 ? '' : 's'}.`)
    io.result(found)
    return exitCodes.complete
  })
}

async function redrive(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const { withLimits, withWorker } = await import('./limits-workspace.ts')
  const { requestIn } = await import('./limits-failures.ts')
  const { redriveDeadLetters } = await import('../stores/limits-queue.ts')
  return withLimits(cli, { io, options, platform: true }, async (opened) => {
    const { sqs, queueUrl, deadLettersUrl, reader } = opened.limits
    if (!deadLettersUrl) {
      throw new FatalError('LIMITS_DEAD_LETTERS_URL is missing; set it to the address of the dead-letter queue.', {
        code: 'configuration',
      })
    }
    const moved: { messageId: string; requestId: string | null; reason: string | null }[] = []
    for await (const { messageId, body } of redriveDeadLetters({ sqs, queueUrl, deadLettersUrl })) {
      const requestId = requestIn(body)
      const reason = (await reader.failures([messageId])).get(messageId)?.reason ?? null
      moved.push({ messageId, requestId, reason })
      const why = reason === null ? 'why it failed is not in the ledger' : `it failed before: ${reason}`
      io.say(`${requestId ?? 'A text that is no request'} (message ${messageId}) is back on the queue; ${why}`)
    }
    io.say(`${number(moved.length)} message${moved.length === 1 ? '' : 's'} moved.`)
    await withWorker(opened, async (worker) => worker?.drained())
    io.result({ moved })
    return exitCodes.complete
  })
}

async function exportLimits(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const { withLimits } = await import('./limits-workspace.ts')
  const { writeLimitsCsv } = await import('../limits/intake/csv.ts')
  return withLimits(cli, { io, options, platform: false, looks: true }, async ({ limits }) => {
    const known: { address: string; limit: number }[] = []
    let unknown = 0
    for await (const { address, limit, certain, status } of limits.reader.allStates()) {
      if (certain && limit !== null) known.push({ address, limit })
      else if (limit !== null || status !== 'rejected') unknown += 1
    }
    known.sort((a, b) => (a.address < b.address ? -1 : 1))
    if (io.json) io.result({ limits: known.map(({ address, limit }) => ({ email: address, limit })), unknown })
    else io.write(writeLimitsCsv(known))
    if (unknown > 0) io.note(`${number(unknown)} addresses are left out: what limit they have now is not certain.`)
    return exitCodes.complete
  })
}

import type { Command } from 'commander'
import type { NightFacts } from '../report/night/facts.ts'
import { verdictOf } from '../report/night/verdict.ts'
import type { NightlyPage } from '../report/nightly-page.ts'
import { action, type Cli, type CommonOptions, defaultFolder, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { writeAt } from './out-path.ts'
import type { Output } from './output.ts'

type Options = CommonOptions & { out: string }

/** `platform-sync report` */
export function addReport(program: Command, cli: Cli): void {
  withLocal(program.command('report'))
    .description('write one page to look at: whether the data is in, what needs somebody, and what the last run cost')
    .requiredOption('--out <file>', 'the HTML file to write')
    .action(action<Options, []>(cli, (io, options) => report(cli, io, options)))
}

async function report(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { composeReport } = await import('../compose/report.ts')
  const { emptyNightlyPage, makeNightlyPage } = await import('../report/nightly-page.ts')
  const { isUnused, withWorkspace } = await import('./workspace.ts')
  const now = cli.clock.now()
  const page = { now, place: placeOf(options) }
  if (await isUnused(options, io)) return write(emptyNightlyPage(page), options, io)
  return withWorkspace(cli, { io, options, platform: false, looks: true }, async ({ open }) => {
    return write(await makeNightlyPage(open(composeReport), page), options, io)
  })
}

async function write({ page, facts }: NightlyPage, { out }: Options, io: Output): Promise<ExitCode> {
  await writeAt(out, page)
  const { isGood, text } = verdictOf(facts)
  io.say(text)
  io.say(`Written to ${out}.`)
  io.result(nightJson(facts, { file: out, isIn: isGood, answer: text }))
  return exitCodes.complete
}

/** What ends a command that is to work on the same place. */
export function placeOf({ local }: CommonOptions): string {
  if (local === undefined) return ''
  return local === true || local === defaultFolder ? ' --local' : ` --local=${local}`
}

function nightJson({ writtenAt, look, streams, ...rest }: NightFacts, answer: object): unknown {
  const { quarantine, invalid, drift, notices, cost } = rest
  return {
    ...{ ...answer, writtenAt, lastRun: look.lastRun?.runId ?? null, lostState: look.lostState },
    streams: streams.map(({ runs, ...stream }) => ({ ...stream, runs: runs.length })),
    ...{ quarantine, invalid, drift, notices, cost },
  }
}

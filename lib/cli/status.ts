import type { Command } from 'commander'
import { behindText, type TableBehind } from '../publish/behind.ts'
import { type Look, lookAtStreams, nothingToSee, whyNothing } from '../report/night/look.ts'
import type { Standing } from '../report/night/standing.ts'
import { duration } from '../report/words.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output, plain, tableText, time, widthOf } from './output.ts'
import { statusText } from './run-report.ts'
import { sayInvalid } from './scan-notes.ts'
import { troublesOf } from './troubles.ts'

/** `platform-sync status` */
export function addStatus(program: Command, cli: Cli): void {
  withLocal(program.command('status'))
    .description('show how each stream stands, and the last run')
    .action(action<unknown, []>(cli, (io, options) => status(cli, io, options)))
}

async function status(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const { composeInspect } = await import('../compose/inspect.ts')
  const { isUnused, withWorkspace } = await import('./workspace.ts')
  const now = cli.clock.now()
  if (await isUnused(options, io)) return tell(nothingToSee(now), io)
  return withWorkspace(cli, { io, options, platform: false, looks: true }, async ({ open }) => {
    return tell(await lookAtStreams(open(composeInspect), now), io)
  })
}

function tell(look: Look, io: Output): ExitCode {
  const { standings, lastRun, behind, lostState } = look
  const nothing = whyNothing(look)
  if (nothing === null) say(standings, io)
  else io.say(nothing)
  if (lastRun) io.say(`\nLast run ${lastRun.runId}: ${lastRun.status}, finished ${time(lastRun.finishedAt)}.`)
  for (const table of behind) io.say(`${io.style('yellow', 'behind')} ${plain(behindText(table))}`)
  io.result({ streams: standings, lastRun, lostState, behind: behind.map(told) })
  return exitCodes.complete
}

/** What a script is told of a table; the rest is the publisher's own. */
function told({ table, since, reason }: TableBehind) {
  return { table, since, reason }
}

function say(standings: readonly Standing[], io: Output): void {
  const right = true
  const heads = [
    { title: 'stream' },
    { title: 'status' },
    { title: 'last scan ended' },
    { title: 'lag', right },
    { title: 'records', right },
    { title: 'changed', right },
    { title: 'quarantined', right },
    { title: 'deletes withheld', right },
  ]
  const table = tableText(
    heads,
    standings.map((standing) => rowOf(standing, io)),
  )
  io.say(widthOf(table) <= io.columns ? table : standings.map((standing) => paragraphOf(standing, io)).join('\n'))
  sayInvalid(standings, io)
  const troubles = troublesOf(standings)
  if (troubles.length > 0) io.say()
  for (const { streams, reason } of troubles) io.say(`${streams.join(', ')}: ${reason}`)
}

function words({ status: state, leaseHolder, scanInProgress }: Standing, io: Output): string {
  if (state === null) return 'never read'
  const holder = leaseHolder ? ` (${leaseHolder})` : ''
  return `${statusText(state, io)}${holder}${scanInProgress && !leaseHolder ? `, ${number(scanInProgress.received)} read so far` : ''}`
}

function count(value: number | null): string {
  return value === null ? '' : number(value)
}

function rowOf(standing: Standing, io: Output): string[] {
  const { stream, lastScan, lagSeconds, records, changed, quarantined, withheldDeletes } = standing
  return [
    stream,
    words(standing, io),
    lastScan ? time(Date.parse(lastScan.completedAt)) : '',
    lagSeconds === null ? '' : duration(lagSeconds * 1000),
    ...[records, changed, quarantined, withheldDeletes].map(count),
  ]
}

function paragraphOf(standing: Standing, io: Output): string {
  const { stream, lastScan, lagSeconds, records, changed, quarantined, withheldDeletes } = standing
  const first = `${stream.padEnd(30)}${words(standing, io)}`
  if (!lastScan) return first
  const kept = `${count(records)} records, ${count(changed)} changed, ${count(quarantined)} quarantined`
  const withheld = withheldDeletes > 0 ? `, ${number(withheldDeletes)} deletes withheld` : ''
  const read = lagSeconds === null ? '' : `; read whole ${duration(lagSeconds * 1000)} ago`
  return `${first}\n  ${kept}${withheld}${read}`
}

import type { Command } from 'commander'
import type { InspectRoot } from '../compose/inspect.ts'
import { mapConcurrently } from '../core/concurrency.ts'
import type { RunRecord } from '../publish/manifest.ts'
import { latestManifestKey } from '../stores/lake-paths.ts'
import { streams } from '../streams/index.ts'
import { shardsOf } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { Checkpoint } from '../sync/checkpoint.ts'
import { wholeScanAt } from '../sync/freshness.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { duration, number, type Output, tableText, time, widthOf } from './output.ts'
import { statusText } from './run-report.ts'
import { sayInvalid } from './scan-notes.ts'
import { freshnessOfShard, type Standing, standingOf, standingOfShards } from './standing.ts'
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
  if (await isUnused(options, io)) return tell(nothing(now), io)
  return withWorkspace(cli, { io, options, platform: false, looks: true }, async ({ open }) =>
    tell(await lookAt(open(composeInspect), now), io),
  )
}

const readsAtOnce = 8

type Found = { standings: Standing[]; lastRun: RunRecord | null; lostState: boolean }

function nothing(now: number): Found {
  return {
    standings: streams.map(({ name }) => neverRead(name, now)),
    lastRun: null,
    lostState: false,
  }
}

function neverRead(name: string, now: number): Standing {
  return standingOf(name, { checkpoint: null, holder: null, completeAt: null, now })
}

async function lookAt(root: InspectRoot, now: number): Promise<Found> {
  const standings = await mapConcurrently(streams, readsAtOnce, (stream) => {
    if (!stream.parent) return lookAtOne(stream.name, { root, now, completeAtOf: wholeScanAt })
    return root.messages ? lookAtShards(stream, root, now) : Promise.resolve(neverRead(stream.name, now))
  })
  const lostState = isNew(standings) && (await root.objects.list(latestManifestKey)).length > 0
  return { standings, lastRun: await root.runs.latest(), lostState }
}

type Looking = { root: InspectRoot; now: number; completeAtOf: (checkpoint: Checkpoint) => number | null }

async function lookAtOne(name: string, { root, now, completeAtOf }: Looking): Promise<Standing> {
  const [checkpoint, holder] = await Promise.all([root.checkpoints.read(name), root.checkpoints.holder(name, now)])
  return standingOf(name, { checkpoint, holder, completeAt: checkpoint && completeAtOf(checkpoint), now })
}

async function lookAtShards(stream: Stream, root: InspectRoot, now: number): Promise<Standing> {
  const parents = await root.checkpoints.read(stream.parent?.stream.name ?? '')
  const completeAt = parents && wholeScanAt(parents)
  const completeAtOf = (checkpoint: Checkpoint) => freshnessOfShard(checkpoint, { parents, completeAt })
  const found = await mapConcurrently(shardsOf(stream), readsAtOnce, ({ name }) =>
    lookAtOne(name, { root, now, completeAtOf }),
  )
  return standingOfShards(stream.name, found)
}

function isNew(standings: readonly Standing[]): boolean {
  return standings.every((standing) => standing.status === null)
}

function tell({ standings, lastRun, lostState }: Found, io: Output): ExitCode {
  if (lostState) {
    io.say('No stream has a state, but the lake holds published runs. The state table is a new one, or its content is')
    io.say('gone. Restore it if you can. Otherwise the next sync takes every record for new, and finds no delete.')
  } else if (isNew(standings)) io.say('Nothing was synced yet. Begin with: platform-sync sync')
  else say(standings, io)
  if (lastRun) io.say(`\nLast run ${lastRun.runId}: ${lastRun.status}, finished ${time(lastRun.finishedAt)}.`)
  io.result({ streams: standings, lastRun, lostState })
  return exitCodes.complete
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

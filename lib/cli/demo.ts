import { relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { AuditLook } from '../audit/look.ts'
import type { RunRoot } from '../compose/run.ts'
import type { Log } from '../core/log.ts'
import type { Simulator } from '../local/simulator/simulator.ts'
import type { Stream } from '../streams/stream.ts'
import { action, type Cli, type CommonOptions, defaultFolder, withLocal } from './command.ts'
import {
  type Asked,
  sayAudit,
  sayClosing,
  sayFirstDay,
  sayHeading,
  sayIceberg,
  sayQuery,
  sayReading,
  saySecondDay,
} from './demo-story.ts'
import { type ExitCode, exitCodeOfRun, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import { createLog, createProgress, type Lines, type Progress } from './progress.ts'
import { placeOf } from './report.ts'
import { runJson, sayRun } from './run-report.ts'
import type { FinishedRun } from './run-sync.ts'
import type { Workspace } from './workspace.ts'

/** `platform-sync demo` */
export function addDemo(program: Command, cli: Cli): void {
  withLocal(program.command('demo'))
    .description(
      'show the whole job on this machine: a platform, two syncs with a day in between, four questions, a policy, 1,000 limits',
    )
    .action(action<unknown, []>(cli, (io, options) => demo(cli, io, options)))
}

async function demo(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const began = cli.clock.now()
  const folder = resolve(options.local === undefined || options.local === true ? defaultFolder : options.local)
  const { emptyFolder, writeBuiltInPlatform } = await import('../local/built-in-platform.ts')
  const { firstDay, secondDay, rateLimit } = await import('../local/demo.ts')
  const { composeRun } = await import('../compose/run.ts')
  emptyFolder(folder, firstDay)

  // Each run has bars of its own; the log goes to those on the screen.
  let progress = createProgress({ ...cli, json: io.json })
  const workspace = await open(cli, options, { folder, progress: { line: (text) => progress.line(text) } })
  try {
    const root = workspace.open(composeRun)
    const sync = async (streams: Stream[]) => {
      progress = createProgress({ ...cli, json: io.json })
      return syncAll({ ...root, streams }, { io, progress, interrupted: cli.interrupted })
    }
    const simulator = workspace.simulator as Simulator
    sayFirstDay(simulator, workspace, io)
    // Lists per session come on the second day, when all else is known.
    const first = await sync(root.streams.filter(({ parent }) => parent === undefined))
    if (first.interrupted) return stopped([first], folder, io)
    const log = createLog({ line: io.note }, { verbose: options.verbose === true, clock: cli.clock })
    const { demoPolicyBegins, demoPolicyGoesOn } = await import('./demo-policy.ts')
    await demoPolicyBegins(cli, { workspace, log, io })
    simulator.advance()
    for (const fault of [...secondDay.faults, rateLimit]) simulator.fault(fault)
    writeBuiltInPlatform(folder, secondDay)
    saySecondDay(io)
    await sendHooks(root, { cli, workspace, log, io })
    const second = await sync(root.streams)
    if (second.interrupted) return stopped([first, second], folder, io)
    sayReading(io)
    const { asked, users } = await askQuestions(root, { workspace, io })
    const audited = await showAudit(workspace, { io, cli })
    const policy = await demoPolicyGoesOn(cli, { workspace, log, io })
    const limits = await setLimits(cli, { workspace, log, io, users })
    const shown = relative(process.cwd(), folder) || folder
    const pages = await writePages(cli, { workspace, log, io, folder: shown })
    const bucket = workspace.variables.LAKE_BUCKET ?? ''
    const seconds = (cli.clock.now() - began) / 1000
    sayClosing({ folder: shown, isDefault: shown === defaultFolder, bucket, seconds }, io)
    io.result({ folder, runs: [first, second].map(runJson), queries: asked, audit: audited, policy, limits, pages })
    return exitCodeOfRun(second.record)
  } finally {
    await workspace.close()
  }
}

async function setLimits(cli: Cli, demo: Sending & { users: string[] }) {
  const { demoLimits } = await import('./demo-limits.ts')
  return demoLimits(cli, demo)
}

async function writePages(cli: Cli, demo: Sending & { folder: string }): Promise<string[]> {
  const { demoPages } = await import('./demo-pages.ts')
  return demoPages(cli, { ...demo, place: placeOf({ local: demo.folder }) })
}

/** The story has no point without what a run would have read. */
function stopped(runs: readonly FinishedRun[], folder: string, io: Output): ExitCode {
  io.result({ folder, runs: runs.map(runJson), queries: [] })
  return exitCodes.interrupted
}

type Where = { folder: string; progress: Lines }

/** The demo has a platform of its own, whatever the environment names, and reads the messages of its sessions. */
async function open(cli: Cli, options: CommonOptions, { folder, progress }: Where): Promise<Workspace> {
  const { openWorkspace } = await import('./workspace.ts')
  const own = Object.fromEntries(Object.entries(cli.variables).filter(([name]) => !name.startsWith('PLATFORM_')))
  const log = createLog(progress, { verbose: options.verbose === true, clock: cli.clock })
  const wanted = { options: { ...options, local: folder }, log, platform: true, keeps: true, note: () => {} }
  return openWorkspace({ ...cli, variables: { ...own, MESSAGES_ENABLED: 'true' } }, wanted)
}

type Sending = { workspace: Workspace; log: Log; io: Output }

/** Lets a developer's machine send events of sessions that the first sync has read. */
async function sendHooks(root: RunRoot, { cli, ...sending }: Sending & { cli: Cli }): Promise<void> {
  const { askLake } = await import('./lake-database.ts')
  const { sessionsQuery } = await import('../local/demo.ts')
  const { demoHooks } = await import('./demo-hooks.ts')
  const { rows } = await askLake(root, sessionsQuery)
  await demoHooks(cli, { ...sending, sessionIds: rows.map(([id]) => String(id)) })
}

type Syncing = { io: Output; progress: Progress; interrupted: AbortSignal }

async function syncAll(root: RunRoot, { io, ...watching }: Syncing): Promise<FinishedRun> {
  const { runSync } = await import('./run-sync.ts')
  const finished = await runSync(root.streams, { root, ...watching })
  sayRun(finished, io)
  return finished
}

async function showAudit(workspace: Workspace, { io, cli }: { io: Output; cli: Cli }): Promise<unknown> {
  const { composeAuditLook } = await import('../compose/audit-look.ts')
  const { diffsOf, verifyStored } = await import('./audit-workspace.ts')
  const { sayVerification, verificationJson } = await import('./audit-verify.ts')
  const { sayRevision } = await import('./audit-diff.ts')
  const look = workspace.open(composeAuditLook).look as AuditLook
  sayAudit(io)
  const verification = await verifyStored(look, { now: cli.clock.now() })
  sayVerification(verification, { io, keysFrom: 'signer' })
  io.say()
  for (const diff of (await diffsOf(look)).slice(-2)) sayRevision(diff, io)
  return verificationJson(verification, 'signer')
}

async function askQuestions(
  root: RunRoot,
  { workspace, io }: { workspace: Workspace; io: Output },
): Promise<{ asked: Asked[]; users: string[] }> {
  const { openLakeDatabase } = await import('./lake-database.ts')
  const { ask } = await import('./query-rows.ts')
  const { demoQueries, invalidQuery, usersQuery } = await import('../local/demo.ts')
  const database = await openLakeDatabase(root)
  try {
    sayHeading('3. The lake answers', io)
    const asked: Asked[] = []
    for (const query of [...demoQueries, invalidQuery]) {
      const answer = await ask(database.connection, query.sql)
      sayQuery(query, answer, io)
      asked.push({ ...query, columns: answer.columns, rows: answer.rows })
    }
    asked.push(...(await askTwice(workspace, io)))
    const { rows } = await ask(database.connection, usersQuery)
    return { asked, users: rows.map(([email]) => String(email)) }
  } finally {
    await database.close()
  }
}

/** The same question, of the files of the change log and of those that the Iceberg table lists. */
async function askTwice(workspace: Workspace, io: Output): Promise<Asked[]> {
  const { composeInspect } = await import('../compose/inspect.ts')
  const { askLake } = await import('./lake-database.ts')
  const { standingQuery } = await import('../local/demo.ts')
  const root = workspace.open(composeInspect)
  const ofLog = await askLake({ ...root, currentFiles: async () => null }, standingQuery.sql)
  const ofTable = await askLake(root, standingQuery.sql)
  sayQuery(standingQuery, ofLog, io)
  sayIceberg(ofTable, isDeepStrictEqual(ofLog.rows, ofTable.rows), io)
  const { columns, rows } = ofTable
  return [
    { ...standingQuery, columns: ofLog.columns, rows: ofLog.rows },
    { ...standingQuery, name: 'standing_iceberg', columns, rows },
  ]
}

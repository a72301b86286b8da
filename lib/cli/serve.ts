import type { Command } from 'commander'
import type { ReportRoot } from '../compose/report.ts'
import { FatalError } from '../core/errors.ts'
import type { PageMaker } from '../local/page-server.ts'
import { action, type Cli, type CommonOptions, untilInterrupted, wholeNumber, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'
import { placeOf } from './report.ts'
import { monthMs } from './times.ts'
import type { Workspace } from './workspace.ts'

type Options = { port?: number }

/** `platform-sync serve` */
export function addServe(program: Command, cli: Cli): void {
  withLocal(program.command('serve'))
    .description('show the pages of the folder of --local to a browser on this machine, until Ctrl-C')
    .option('--port <port>', 'its port (default: a free one)', wholeNumber({ min: 0, max: 65_535 }))
    .action(action<Options, []>(cli, (io, options) => serve(cli, io, options)))
}

async function serve(cli: Cli, io: Output, { port = 0, ...options }: Options & CommonOptions): Promise<ExitCode> {
  if (options.local === undefined) {
    const message =
      'serve shows the pages of a folder: add --local. On AWS they lie in the lake bucket, under reports/.'
    throw new FatalError(message, { code: 'usage' })
  }
  const { startPageServer } = await import('../local/page-server.ts')
  const { createLog } = await import('./progress.ts')
  const log = createLog({ line: io.note }, { verbose: options.verbose === true, clock: cli.clock })
  const server = await startPageServer({ port, make: pagesOf(cli, io, options), log })
  try {
    io.result({ url: server.url })
    io.say(`The night at a glance is at ${server.url}, credit limits are at ${server.url}limits, and the page for auditors is at
${server.url}audit. Ctrl-C stops it.
A page that is loaded again after a sync shows what is true then.`)
    await untilInterrupted(cli)
  } finally {
    await server.close()
  }
  return exitCodes.complete
}

type Making = { workspace: Pick<Workspace, 'open'>; root: ReportRoot; now: number; place: string }

/** The pages by their paths; null where there is nothing to show. */
const makers: Record<string, (making: Making) => Promise<string | null>> = {
  '/': async ({ root, now, place }) => {
    const { makeNightlyPage } = await import('../report/nightly-page.ts')
    return (await makeNightlyPage(root, { now, place })).page
  },
  '/limits': async ({ workspace, now }) => {
    const { composeLimitsLook } = await import('../compose/limits-look.ts')
    const { makeLimitsPage } = await import('./limits-report.ts')
    const look = workspace.open(composeLimitsLook)
    const { page, facts } = await makeLimitsPage({ now, since: now - monthMs }, look)
    return facts.people.length + facts.refused.length > 0 ? page : null
  },
  '/audit': async ({ workspace, now }) => {
    const { makeAuditPage } = await import('./audit-report.ts')
    const { composeAuditLook } = await import('../compose/audit-look.ts')
    return makeAuditPage(workspace.open(composeAuditLook), now)
  },
}

/** Makes pages as they are asked for, each once for a run: what the newest run has seen is shown until there is another. */
function pagesOf(cli: Cli, io: Output, options: CommonOptions): PageMaker {
  const made = new Map<string, { runId: string; page: Promise<string | null> }>()
  return async (path) => {
    const make = Object.hasOwn(makers, path) ? makers[path] : undefined
    if (!make) return null
    const { isUnused, withWorkspace } = await import('./workspace.ts')
    const { emptyNightlyPage } = await import('../report/nightly-page.ts')
    const [now, place] = [cli.clock.now(), placeOf(options)]
    if (await isUnused(options, io)) return path === '/' ? emptyNightlyPage({ now, place }).page : null
    return withWorkspace(cli, { io, options, platform: false, looks: true }, async (workspace) => {
      const { composeReport } = await import('../compose/report.ts')
      const root = workspace.open(composeReport)
      const runId = (await root.runs.latest())?.runId ?? ''
      const known = made.get(path)
      if (known && known.runId === runId) return known.page
      const page = make({ workspace, root, now, place })
      made.set(path, { runId, page })
      // One that could not be made is tried again.
      page.catch(() => made.delete(path))
      return page
    })
  }
}

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../core/folders.ts'
import type { Log } from '../core/log.ts'
import type { Cli } from './command.ts'
import { sayParagraph } from './demo-story.ts'
import { withLimitsIn } from './limits-workspace.ts'
import type { Output } from './output.ts'
import { monthMs } from './times.ts'
import type { Workspace } from './workspace.ts'

type Demo = { workspace: Workspace; log: Log; io: Output; folder: string; place: string }

/** Writes the pages of the demo beside its data, and says where they are. */
export async function demoPages(cli: Cli, { workspace, log, io, folder, place }: Demo): Promise<string[]> {
  const { composeAuditLook } = await import('../compose/audit-look.ts')
  const { composeReport } = await import('../compose/report.ts')
  const { makeNightlyPage } = await import('../report/nightly-page.ts')
  const { makeAuditPage } = await import('./audit-report.ts')
  const { makeLimitsPage } = await import('./limits-report.ts')
  const { openPolicyRoot } = await import('./limits-policy-folder.ts')
  const now = cli.clock.now()
  const night = await makeNightlyPage(workspace.open(composeReport), { now, place })
  const limits = await withLimitsIn({ workspace, log }, (opened) => {
    const look = { reader: opened.limits.reader, store: openPolicyRoot(opened).store }
    return makeLimitsPage({ now, since: now - monthMs }, look)
  })
  const audit = await makeAuditPage(workspace.open(composeAuditLook), now)
  return keep(join(folder, 'pages'), io, [
    { name: 'night.html', what: 'the night at a glance is', page: night.page },
    { name: 'limits.html', what: 'credit limits are', page: limits.page },
    { name: 'audit.html', what: 'the page for auditors is', page: audit },
  ])
}

/** A page, and how to begin a sentence on where it is. `page` is null where there is nothing to show. */
type Made = { name: string; what: string; page: string | null }

async function keep(folder: string, io: Output, pages: readonly Made[]): Promise<string[]> {
  makeFolder(folder)
  const kept: { file: string; what: string }[] = []
  for (const { name, what, page } of pages) {
    if (page === null) continue
    const file = join(folder, name)
    await writeFile(file, page)
    kept.push({ file, what })
  }
  sayParagraph(`Pages to look at: ${kept.map(({ file, what }) => `${what} ${file}`).join(', ')}.`, io)
  return kept.map(({ file }) => file)
}

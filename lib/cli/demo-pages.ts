import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../core/log.ts'
import type { Cli } from './command.ts'
import { sayParagraph } from './demo-story.ts'
import { withLimitsIn } from './limits-workspace.ts'
import type { Output } from './output.ts'
import type { Workspace } from './workspace.ts'

const monthMs = 30 * 86_400_000

type Demo = { workspace: Workspace; log: Log; io: Output; folder: string; place: string }

/** Writes the pages of the demo beside its data, and says where they are. */
export async function demoPages(cli: Cli, { workspace, log, io, folder, place }: Demo): Promise<string[]> {
  const { composeReport } = await import('../compose/report.ts')
  const { makeNightlyPage } = await import('../report/nightly-page.ts')
  const { makeLimitsPage } = await import('./limits-report.ts')
  const { openPolicyRoot } = await import('./limits-policy-folder.ts')
  const now = cli.clock.now()
  const night = await makeNightlyPage(workspace.open(composeReport), { now, place })
  const limits = await withLimitsIn({ workspace, log }, (opened) => {
    const look = { reader: opened.limits.reader, store: openPolicyRoot(opened).store }
    return makeLimitsPage({ now, since: now - monthMs }, look)
  })
  const pages = join(folder, 'pages')
  const files = { night: join(pages, 'night.html'), limits: join(pages, 'limits.html') }
  await mkdir(pages, { recursive: true })
  await writeFile(files.night, night.page)
  await writeFile(files.limits, limits.page)
  sayParagraph(`Pages to look at: the night at a glance is ${files.night}, credit limits are ${files.limits}.`, io)
  return Object.values(files)
}

import { randomBytes } from 'node:crypto'
import { composeCollect } from '../compose/hooks-collect.ts'
import { composeStoreHooks } from '../compose/hooks-store.ts'
import type { Log } from '../core/log.ts'
import type { HookEvent } from '../hooks/hook-event.ts'
import type { Cli } from './command.ts'
import { sayParagraph } from './demo-story.ts'
import type { Output } from './output.ts'
import type { Workspace } from './workspace.ts'

type Demo = { workspace: Workspace; sessionIds: readonly string[]; log: Log; io: Output }

/** A collector takes in what a developer's machine sends, some of it twice, until the next sync brings it to the lake. */
export async function demoHooks(cli: Cli, { workspace, sessionIds, log, io }: Demo): Promise<void> {
  const { startLocalCollector } = await import('../local/hooks-collector.ts')
  const { eventsOfMachine } = await import('../local/demo-machines.ts')
  const token = randomBytes(24).toString('hex')
  const collect = workspace.open((variables, runtime) => composeCollect({ ...variables, HOOKS_TOKENS: token }, runtime))
  const store = workspace.open(composeStoreHooks)
  const collector = await startLocalCollector({ collect, store, log, port: 0 })
  try {
    const events = eventsOfMachine(sessionIds, cli.clock.now())
    const send = (some: readonly HookEvent[]) => post(cli, { url: collector.url, token }, some)
    await send(events)
    await send(events.slice(0, 10))
    sayParagraph(
      `Meanwhile the agent on a developer's machine has sent ${events.length} hook events to a collector, ten of them twice, as if it had heard no answer.`,
      io,
    )
  } finally {
    await collector.close()
  }
}

async function post(cli: Cli, { url, token }: { url: string; token: string }, events: readonly HookEvent[]) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { status } = await cli.fetch(url, { method: 'POST', headers, body: JSON.stringify({ events }) })
  if (status !== 202) throw new Error(`the collector of the demo answered ${status}, which is a bug`)
}

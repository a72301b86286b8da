import { composeCollect } from '../../../lib/compose/hooks-collect.ts'
import { composeStoreHooks } from '../../../lib/compose/hooks-store.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { receive } from '../../../lib/hooks/collector/receive.ts'
import { storeBatch } from '../../../lib/hooks/collector/store.ts'
import type { HookEvent } from '../../../lib/hooks/hook-event.ts'
import { pollOnce } from '../../../lib/local/poller.ts'
import type { Run } from '../../../lib/sync/context.ts'
import type { View } from './observe.ts'
import type { Beforehand } from './process.ts'
import type { Story } from './world.ts'

const token = 'a-token-of-the-tests-of-32-characters'

/** From when events are stored to the run: less than what each scan reads once more. */
const untilRunMs = 2 * 60_000

const rounds = 20

/** Two deliveries before each run. The second has what a machine sends again that heard no answer. */
function deliveriesOf({ runId }: Run): HookEvent[][] {
  const first = [1, 2, 3].map((n) => event(`${runId}-${n}`))
  // Too large for one message together.
  const large = ['a', 'b'].map((name) => event(`${runId}-${name}`, { notes: name.repeat(110_000) }))
  return [first, large, [first[2]!, event('r1-1'), event(`${runId}-9`, { hook_event_name: 'Notification' })]]
}

function event(name: string, more: object = {}): HookEvent {
  return {
    id: `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`,
    occurredAt: '2026-11-01T23:59:58.000Z',
    host: 'laptop-of-ana',
    input: { hook_event_name: 'Stop', session_id: name, cwd: '/home/ana/shop', ...more },
  }
}

/**
 * The story of hook events: machines send, until they hear that it was accepted; a function takes in, another one stores
 * what is on the queue, until there is nothing left; and then comes the run.
 */
export function collecting(): Story {
  /** What machines did not hear to be accepted. */
  const spools = new Map<string, HookEvent[][]>()
  const spoolOf = (run: Run) => {
    const spool = spools.get(run.runId) ?? deliveriesOf(run)
    spools.set(run.runId, spool)
    return spool
  }
  return {
    begin: () => spools.clear(),
    beforehand: async (doing) => {
      await collect(doing, spoolOf(doing.run))
      await doing.time.advance(untilRunMs)
    },
    alike,
  }
}

async function collect(
  { variables, outside, connection, time }: Parameters<Beforehand>[0],
  spool: HookEvent[][],
): Promise<void> {
  const runtime = { log: silentLog, metrics: noMetrics, clock: time.clockOf(outside), clients: connection.clients }
  const collecting = { ...runtime, sqs: connection.clients.sqs! }
  const { sqs, queueUrl, receiveDeps } = composeCollect({ ...variables, HOOKS_TOKENS: token }, collecting)
  const { storeDeps } = composeStoreHooks(variables, runtime)
  for (let round = 0; spool.length > 0; round++) {
    const [events] = spool
    const body = Buffer.from(JSON.stringify({ events }))
    const { status } = await receive({ authorization: `Bearer ${token}`, body }, receiveDeps)
    if (round === rounds) throw new Error(`the collector still answers ${status} after ${rounds} rounds`)
    // Another process may have heard it meanwhile.
    if (status === 202 && spool[0] === events) spool.shift()
  }
  const handle = async (records: readonly unknown[]) => storeBatch(records, await storeDeps())
  const poll = () => pollOnce({ sqs, queueUrl, handle, log: silentLog, waitSeconds: 0 })
  for (let round = 0; (await poll()).received > 0; round++) {
    if (round === rounds) throw new Error(`the queue was not empty after ${rounds} rounds`)
  }
}

type Counts = { inserted: number }
type Scans = { scans: { counts: Counts }[] }

/**
 * What is stored is alike but for the minute of it, and for what was read more than once: an object may hold an event
 * that another one holds, too.
 */
function alike(view: View): View {
  const rowsOf = (tables: Record<string, string[]>, change: (row: string) => string) =>
    Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(change).sort()]))
  return {
    ...view,
    rows: rowsOf(view.rows, withoutMinutes),
    current: rowsOf(view.current, withoutMinutes),
    tables: rowsOf(view.tables, (row) => JSON.stringify((JSON.parse(row) as string[]).slice(0, 1))),
    manifests: (view.manifests as Scans[]).map(({ scans }) => scans.map(({ counts }) => counts.inserted)),
    ...{ index: {}, checkpoints: {}, runs: [] },
  }
}

function withoutMinutes(row: string): string {
  const { received_at, stored_at, _hash, ...rest } = JSON.parse(row) as { [column: string]: unknown }
  return JSON.stringify({ ...rest, days: [received_at, stored_at].map((time) => String(time).slice(0, 10)) })
}

import { platformStreams, streams } from '../../lib/streams/index.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { incoherences } from '../support/worlds/coherence.ts'
import type { Observer, View } from '../support/worlds/observe.ts'
import type { Stored } from './contents.ts'
import type { World } from './world.ts'

/**
 * What disagrees among the places that say what lives, what was left lying about, what was written twice, and which
 * event or outcome is not there exactly once. It reads all that was ever published.
 */
export async function faultsOfLake(world: World, stored: Stored, observer: Observer): Promise<string[]> {
  const view = await observer.view({ contents: stored, now: world.time.now() }, streams)
  // The collected objects and the indexes of shards are no files of a manifest.
  const orphans = view.orphans.filter((key) => !key.startsWith('index/session_messages/'))
  return [
    ...incoherences({ ...view, orphans }, platformStreams),
    ...view.unlisted.map((key) => `${key} is in a manifest or in the list of a month, and not in both`),
    ...platformStreams.flatMap((stream) => writtenTwice(stream, view)),
    ...notOnce('hook_events', 'event_id', view).map((id) => `hook event ${id}`),
    ...notOnce('credit_limit_outcomes', 'outcome_id', view).map((id) => `outcome ${id}`),
    ...missing(world.events, view.rows.hook_events ?? []),
    ...conservationBroken(view),
  ]
}

type Row = { [column: string]: unknown; _run_id: string; _op: string; _hash: string }

/** Records that were written anew although nothing had changed: of one key, two rows that follow each other and are the same. */
function writtenTwice({ name, tables: [table] }: Stream, view: View): string[] {
  const newest = new Map<string, string>()
  const found: string[] = []
  const rows = (view.rows[table.name] ?? []).map((row) => JSON.parse(row) as Row)
  for (const row of rows.sort((a, b) => (a._run_id < b._run_id ? -1 : 1))) {
    const key = JSON.stringify(table.key.map((column) => row[column]))
    const content = `${row._op} ${row._hash}`
    if (newest.get(key) === content) found.push(`${name} ${key} was written again in ${row._run_id}, unchanged`)
    newest.set(key, content)
  }
  return found
}

function notOnce(table: string, column: string, { rows }: View): string[] {
  const ids = (rows[table] ?? []).map((row) => (JSON.parse(row) as Row)[column] as string)
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))].map((id) => `${id} stands twice in ${table}`)
}

function missing(events: ReadonlySet<string>, rows: readonly string[]): string[] {
  const stored = new Set(rows.map((row) => (JSON.parse(row) as Row).event_id))
  return [...events].filter((id) => !stored.has(id)).map((id) => `hook event ${id} was acknowledged and is lost`)
}

type Counted = { runId: string; scans: { stream: string; counts: Record<string, number> }[] }

/** Scans that do not account for each record they received. */
function conservationBroken({ manifests }: View): string[] {
  return (manifests as Counted[]).flatMap(({ runId, scans }) =>
    scans.flatMap(({ stream, counts }) => {
      const { received = 0, inserted = 0, updated = 0, unchanged = 0, duplicate = 0, quarantined = 0 } = counts
      const accounted = inserted + updated + unchanged + duplicate + quarantined
      return received === accounted ? [] : [`${stream} of ${runId} received ${received} and accounts for ${accounted}`]
    }),
  )
}

import { type TableBehind, tablesIn } from '../../publish/behind.ts'
import type { RunRecord } from '../../publish/manifest.ts'
import type { Publications, Runs } from '../../publish/ports.ts'
import { streams } from '../../streams/index.ts'
import { shardsOf } from '../../streams/shards.ts'
import type { Stream } from '../../streams/stream.ts'
import { freshnessOf } from '../../sync/freshness.ts'
import type { StateReader, StreamState } from '../../sync/ports.ts'
import { type Standing, standingOf, standingOfShards } from './standing.ts'

/** What is looked at to tell how the streams stand. */
export type LookPorts = {
  checkpoints: StateReader
  runs: Pick<Runs, 'latest'>
  publications: Pick<Publications, 'behind'>
  /** Whether the lake holds anything that a run published. */
  hasPublished(): Promise<boolean>
  /** Whether the messages of sessions are read. */
  messages: boolean
}

/** How all streams stand, the last run, and the tables that are behind. `lostState`: there are published runs and no state. */
export type Look = { standings: Standing[]; lastRun: RunRecord | null; behind: TableBehind[]; lostState: boolean }

/** Looks at every stream. `status` and the nightly page tell the same, since both look with this. */
export async function lookAtStreams(ports: LookPorts, now: number): Promise<Look> {
  const stateOf = await ports.checkpoints.look(now)
  const standings = streams.map((stream) => {
    if (!stream.parent) return standingNow(stream, { stateOf, now })
    return ports.messages ? standingOfDivided(stream, { stateOf, now }) : neverRead(stream.name, now)
  })
  const lostState = isNew(standings) && (await ports.hasPublished())
  const behind = tablesIn(await ports.publications.behind())
  return { standings, lastRun: await ports.runs.latest(), behind, lostState }
}

/** What there is to see where nothing was ever kept. */
export function nothingToSee(now: number): Look {
  return { standings: streams.map(({ name }) => neverRead(name, now)), lastRun: null, behind: [], lostState: false }
}

/** Whether no stream was ever read. */
export function isNew(standings: readonly Standing[]): boolean {
  return standings.every((standing) => standing.status === null)
}

/** What to say in place of the streams where there is nothing to say of them; null where there is. */
export function whyNothing({ standings, lostState }: Look): string | null {
  if (lostState) return lost
  return isNew(standings) ? 'Nothing was synced yet. Begin with: platform-sync sync' : null
}

const lost =
  'No stream has a state, but the lake holds published runs. The state table is a new one, or its content is\n' +
  'gone. Restore it if you can. Otherwise the next sync takes every record for new, and finds no delete.'

function neverRead(name: string, now: number): Standing {
  return standingOf(name, { checkpoint: null, holder: null, completeAt: null, now })
}

type Looking = { stateOf: (stream: string) => StreamState; now: number }

function standingNow(unit: Stream, { stateOf, now }: Looking): Standing {
  const { checkpoint, holder } = stateOf(unit.name)
  const completeAt = freshnessOf(unit, (name) => stateOf(name).checkpoint)
  return standingOf(unit.name, { checkpoint, holder, completeAt, now })
}

function standingOfDivided(stream: Stream, looking: Looking): Standing {
  const shards = shardsOf(stream).map((shard) => standingNow(shard, looking))
  return standingOfShards(stream.name, shards)
}

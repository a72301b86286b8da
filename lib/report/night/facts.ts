import type { Manifest, PublishedFile } from '../../publish/manifest.ts'
import { streamNamed } from '../../streams/index.ts'
import type { Notice } from '../../sync/checkpoint.ts'
import { hoursAllowed, type KnownSchedule } from '../../sync/schedules.ts'
import { costOf, type RunCost } from './cost.ts'
import { type Drift, readDrift } from './drift.ts'
import type { FileRows } from './file-rows.ts'
import { type History, readHistory, type StreamRun } from './history.ts'
import { type Look, type LookPorts, lookAtStreams, nothingToSee } from './look.ts'
import { type InvalidField, type Quarantine, readInvalid, readQuarantine } from './set-aside.ts'
import type { Standing } from './standing.ts'

/** Whether a stream is in: read whole in time; too old; in trouble; or never read, where a schedule wants it read or not. */
export type Arrival = 'in' | 'late' | 'trouble' | 'missing' | 'unused'

/** A stream as the page tells it. `hoursAllowed` is null where no schedule is known to read it. */
export type StreamNight = Standing & { arrival: Arrival; hoursAllowed: number | null; runs: readonly StreamRun[] }

/** What "Is the data in?" tells. Times are ISO 8601, UTC. */
export type NightFacts = {
  writtenAt: string
  /** What to say where there is nothing to tell of any stream: see `whyNothing`. */
  look: Look
  streams: readonly StreamNight[]
  schedules: readonly KnownSchedule[]
  quarantine: readonly Quarantine[]
  invalid: readonly InvalidField[]
  drift: readonly Drift[]
  notices: readonly Notice[]
  /** Of the last run; null when there was none. */
  cost: RunCost | null
}

/** What the facts are read through. */
export type NightPorts = LookPorts & {
  runs: LookPorts['runs'] & Parameters<typeof readHistory>[0]
  lake: { readFiles(): Promise<PublishedFile[]>; readManifest(runId: string): Promise<Manifest | null> }
  rows: FileRows
}

type Options = { now: number; schedules: readonly KnownSchedule[] }

/** Reads how the night went, from what `status` and the published lake tell. */
export async function readNight(ports: NightPorts, { now, schedules }: Options): Promise<NightFacts> {
  const look = await lookAtStreams(ports, now)
  const history = await readHistory(ports.runs)
  const files = await ports.lake.readFiles()
  const streams = look.standings.map((standing) => nightOf(standing, { history, schedules }))
  const found = await lookIntoFiles({ streams, files }, ports.rows)
  const { lastRun } = look
  const published = lastRun ? ((await ports.lake.readManifest(lastRun.runId))?.scans ?? []) : []
  return {
    ...{ writtenAt: new Date(now).toISOString(), look, streams, schedules, ...found },
    notices: lastRun?.streams.flatMap(({ notices = [] }) => notices) ?? [],
    cost:
      lastRun &&
      costOf(
        lastRun,
        published.flatMap((scan) => scan.files),
      ),
  }
}

/** The facts where nothing was ever kept. */
export function emptyNight({ now, schedules }: Options): NightFacts {
  const look = nothingToSee(now)
  const history = new Map()
  const streams = look.standings.map((standing) => nightOf(standing, { history, schedules }))
  const none = { quarantine: [], invalid: [], drift: [], notices: [], cost: null }
  return { writtenAt: new Date(now).toISOString(), look, streams, schedules, ...none }
}

function nightOf(
  standing: Standing,
  { history, schedules }: { history: History; schedules: readonly KnownSchedule[] },
): StreamNight {
  const hours = hoursAllowed(standing.stream, schedules)
  const runs = history.get(standing.stream) ?? []
  return { ...standing, arrival: arrivalOf(standing, hours), hoursAllowed: hours, runs }
}

/** A stream that is being read, or is to be read on, is in as long as what was read whole is young enough. */
function arrivalOf({ status, lagSeconds }: Standing, hours: number | null): Arrival {
  if (status === null) return hours === null ? 'unused' : 'missing'
  if (status === 'failed' || status === 'suspect' || status === 'rate_limited') return 'trouble'
  if (lagSeconds === null) return status === 'skipped' && hours === null ? 'unused' : 'missing'
  return hours !== null && lagSeconds > hours * 3_600 ? 'late' : 'in'
}

type Looked = { streams: readonly StreamNight[]; files: readonly PublishedFile[] }

async function lookIntoFiles({ streams, files }: Looked, rows: FileRows) {
  const quarantine: Quarantine[] = []
  const invalid: InvalidField[] = []
  const drift: Drift[] = []
  for (const night of streams) {
    const stream = streamNamed(night.stream)
    const aside = await readQuarantine({ standing: night, files }, rows)
    if (aside) quarantine.push(aside)
    invalid.push(...(await readInvalid({ standing: night, stream, files }, rows)))
    const unknown = await readDrift({ stream, runs: night.runs, files }, rows)
    if (unknown) drift.push(unknown)
  }
  return { quarantine, invalid, drift }
}

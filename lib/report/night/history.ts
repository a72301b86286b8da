import type { RunRecord } from '../../publish/manifest.ts'
import type { Runs } from '../../publish/ports.ts'
import { streams } from '../../streams/index.ts'
import type { Counts, StreamStatus } from '../../sync/checkpoint.ts'

/** What one run asked and received of a stream. `counts` is null when it kept nothing. */
export type StreamRun = { runId: string; scheduledAt: number; status: StreamStatus; counts: Counts | null }

/** The last runs of each stream by its name, newest first. */
export type History = ReadonlyMap<string, readonly StreamRun[]>

const runsShown = 30
/** A schedule of every 15 minutes makes as many records in a month. */
const recordsRead = 3_200

/** Reads the last runs of each stream. A stream that is read more often than others doesn't push theirs out. */
export async function readHistory(runs: Pick<Runs, 'newestFirst'>): Promise<History> {
  const history = new Map<string, StreamRun[]>(streams.map(({ name }) => [name, []]))
  let read = 0
  for await (const record of runs.newestFirst()) {
    addRun(history, record)
    read += 1
    if (read >= recordsRead || [...history.values()].every(({ length }) => length >= runsShown)) break
  }
  return history
}

function addRun(history: ReadonlyMap<string, StreamRun[]>, { runId, scheduledAt, streams: ended }: RunRecord): void {
  for (const { stream, status, counts, ofRun } of ended) {
    const known = history.get(stream)
    if (known && known.length < runsShown) known.push({ runId, scheduledAt, status, counts: ofRun ?? counts })
  }
}

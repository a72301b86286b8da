import { messageOf } from '../core/errors.ts'
import type { Patience } from '../core/patience.ts'
import { shardLabel } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { Counts } from './checkpoint.ts'
import type { Run, StreamResult } from './context.ts'

/** One attempt, how to wait and how long at most, and whether there may be another attempt (always, unless someone says stop). */
type Driving = {
  attempt: () => Promise<StreamResult>
  patience: Patience
  wait: (ms: number) => Promise<void>
  goOn?: () => boolean
}

const leastWaitMs = 1_000

/**
 * Drives one stream to its end: again when it is paused, later when the platform asks to wait, as long as that fits into
 * the run's patience. What does not is left to a later run. On AWS the state machine does the same. Whatever is thrown becomes the stream's own failure: it stops no other.
 */
export async function driveStream(
  stream: Stream,
  run: Run,
  { attempt, patience, wait, goOn = () => true }: Driving,
): Promise<StreamResult> {
  try {
    for (;;) {
      const result = await attempt()
      if (!goOn()) return result
      if (result.status === 'paused') continue
      if (result.status !== 'rate_limited') return result
      const waitMs = Math.max(leastWaitMs, result.retryAfterMs ?? 0)
      if (waitMs > patience.remainingMs()) return result
      patience.spend(waitMs)
      await wait(waitMs)
    }
  } catch (error) {
    const reason = messageOf(error)
    return { stream: stream.name, runId: run.runId, status: 'failed', reason, retryAfterMs: null, counts: null }
  }
}

/** What an attempt hands to the state machine, which can wait for seconds but can't divide. */
type Step = StreamResult & { waitSeconds: number }

/** The step after an attempt: how long to wait before the next one if there is one. At least a second. */
export function stepAfter(result: StreamResult): Step {
  return {
    ...(shardLabel(result.stream) === '' ? result : slim(result)),
    waitSeconds: Math.max(1, Math.ceil((result.retryAfterMs ?? 0) / 1000)),
  }
}

const charactersTold = 300
const fieldsTold = 5

/** Without what may be long: the results of all shards stand in one state of at most 256 KB. The checkpoint has the rest. */
function slim({ notices: _notices, reason, counts, ofRun, ...result }: StreamResult): StreamResult {
  const short = reason && reason.length > charactersTold ? `${reason.slice(0, charactersTold)}...` : reason
  return { ...result, reason: short, counts: slimCounts(counts), ofRun: slimCounts(ofRun ?? null) }
}

function slimCounts(counts: Counts | null): Counts | null {
  return counts && { ...counts, invalid: Object.fromEntries(Object.entries(counts.invalid).slice(0, fieldsTold)) }
}

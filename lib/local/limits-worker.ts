import type { LimitsRoot } from '../compose/limits.ts'
import { noDeadline } from '../core/deadline.ts'
import type { Log } from '../core/log.ts'
import { applyBatch } from '../limits/apply/apply-batch.ts'
import { pollOnce } from './poller.ts'

/** A worker on this machine. */
export type LimitsWorker = {
  /** Aborts when messages failed in a way that only a person can mend: the log says how. */
  readonly stuck: AbortSignal
  /** Ends when the queue has been empty for a moment, or nothing goes on. */
  drained(): Promise<void>
  close(): Promise<void>
}

/** A pause so long that its message waits for a person. */
const longPauseMs = 10 * 60_000

/** Plays the event source mapping and the function for as long as a command waits for outcomes. */
export function startLimitsWorker(app: LimitsRoot, { log }: { log: Log }): LimitsWorker {
  const api = app.platform()
  const stuck = new AbortController()
  let isClosing = false
  const deps = app.applyDeps(api, noDeadline)
  const pauses: typeof deps.pauses = {
    set: async (messages) => {
      await deps.pauses.set(messages)
      if (messages.some(({ pauseMs }) => pauseMs >= longPauseMs)) stuck.abort()
    },
  }
  let onEmpty = () => {}
  const work = async () => {
    while (!isClosing) {
      // Never given up half-way: the queue would hand the next messages to whoever has gone, and then hold back their group.
      const { received } = await pollOnce({
        ...{ sqs: app.sqs, queueUrl: app.queueUrl, log },
        handle: (records) => applyBatch(records, { ...deps, pauses }),
      })
      if (received === 0) onEmpty()
    }
  }
  const working = work()
  working.catch(() => stuck.abort())
  return {
    stuck: stuck.signal,
    drained: () =>
      new Promise((resolve) => {
        onEmpty = resolve
        stuck.signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    close: async () => {
      isClosing = true
      await working
    },
  }
}

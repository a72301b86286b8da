import { mapConcurrently } from '../core/concurrency.ts'
import type { Variables } from '../core/env.ts'
import { createLedgerReader } from '../stores/ledger.ts'
import { createIntentQueue, messagesOn } from '../stores/limits-queue.ts'
import { applyingOf } from './limits-apply.ts'
import { openLimits } from './limits-ledger.ts'
import type { QueueRuntime } from './runtime.ts'

/** The root of the commands of credit limits. */
export type LimitsRoot = ReturnType<typeof composeLimits>

/**
 * Builds what the commands of credit limits need: they plan, ask for limits, follow what becomes of them and, with
 * emulators, apply them.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeLimits(variables: Variables, runtime: QueueRuntime) {
  const opened = openLimits(variables, runtime)
  const { sqs, queueUrl, deadLettersUrl } = opened
  return {
    ...opened,
    ...applyingOf(opened, { variables, runtime }),
    queue: createIntentQueue({ sqs, queueUrl }),
    reader: createLedgerReader(opened.parts),
    /** Messages that were sent and not applied: those on the queue and among the dead letters. */
    unfinished: async (): Promise<number> => {
      const urls = [queueUrl, ...(deadLettersUrl ? [deadLettersUrl] : [])]
      const counts = await mapConcurrently(urls, urls.length, (url) => messagesOn(sqs, url))
      return counts.reduce((sum, some) => sum + some, 0)
    },
  }
}

import { composeLimits } from '../lib/compose/limits.ts'
import { systemClock } from '../lib/core/clock.ts'
import { noDeadline } from '../lib/core/deadline.ts'
import { silentLog } from '../lib/core/log.ts'
import { noMetrics } from '../lib/core/metrics.ts'
import { applyBatch } from '../lib/limits/apply/apply-batch.ts'
import { intentsOf, publishIntents } from '../lib/limits/intake/publisher.ts'
import { type PolledRecord, pollOnce } from '../lib/local/poller.ts'
import { answering } from './processes.ts'

/** What setting limits cost the worker; the time runs from the first message received. */
export type LimitsAnswer = { applied: number; seconds: number; cpuSeconds: number }

type Question = { variables: Record<string, string>; emails: string[]; limit: number }

/** Publishes one request for all addresses, then applies it batch by batch, as the function does. */
answering(async ({ variables, emails, limit }: Question): Promise<LimitsAnswer> => {
  Object.assign(process.env, variables)
  const app = composeLimits(variables, { log: silentLog, metrics: noMetrics })
  const request = { requestId: `bench-${limit}`, requestedAt: new Date().toISOString(), requestedBy: 'b', source: 'b' }
  const intents = intentsOf(
    request,
    emails.map((email) => ({ email, limit })),
  )
  await publishIntents(intents, { queue: app.queue, clock: systemClock, random: Math.random })

  const deps = app.applyDeps(app.platform(), noDeadline)
  let began: { at: number; cpu: NodeJS.CpuUsage } | null = null
  let failed = 0
  const handle = (records: PolledRecord[]) => {
    began ??= { at: performance.now(), cpu: process.cpuUsage() }
    return applyBatch(records, deps)
  }
  let ended = performance.now()
  for (;;) {
    const polled = await pollOnce({ sqs: app.sqs, queueUrl: app.queueUrl, handle, log: silentLog, waitSeconds: 0 })
    if (polled.received === 0) break
    failed += polled.failed
    ended = performance.now()
  }
  if (began === null || failed > 0) throw new Error(`${failed} messages failed`)
  const { at, cpu } = began as { at: number; cpu: NodeJS.CpuUsage }
  const used = process.cpuUsage(cpu)
  app.close()
  return { applied: emails.length, seconds: (ended - at) / 1000, cpuSeconds: (used.user + used.system) / 1e6 }
})

import { RetryableError } from '../../../lib/core/errors.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { defaultRules } from '../../../lib/limits/entries.ts'
import { approvePlan, type KeepPolicyDeps, keepPolicy } from '../../../lib/limits/policy/keep-policy.ts'
import type { PolicyUser } from '../../../lib/limits/policy/rules.ts'
import type { IntentQueue, LimitsApi } from '../../../lib/limits/ports.ts'
import { createPolicyStore } from '../../../lib/stores/policy-store.ts'
import { fakeClock } from '../../platform/fixture.ts'
import { createMemoryObjects } from '../../support/memory/objects.ts'
import { intent, message, workerOn } from '../fixture.ts'
import { folderOf, user } from './fixture.ts'

/** What a killed process "throws". */
export class Killed extends Error {}

/** How the platform answers for an address, where it does not just set the limit. */
export type Fate = 'reject' | 'forget' | 'fail'

/** A policy with all around it in memory: users, inbox bucket, queue, ledger, worker, platform. */
export function policyWorld(start = '2026-05-06T02:00:00Z') {
  const clock = fakeClock(start)
  const platform = new Map<string, number>()
  const fates = new Map<string, Fate>()
  const messages: { body: string; receives: number }[] = []
  const bucket = createMemoryObjects()
  const written: string[] = []
  const world = {
    clock,
    platform,
    fates,
    messages,
    /** Keys that were written, in order. */
    written,
    users: [] as PolicyUser[],
    scans: 1,
    suspect: false,
    policy: 'default: 500',
    /** Calls that change something until the process dies; it dies before or after the last one. */
    callsLeft: Number.POSITIVE_INFINITY,
    diesAfter: false,
  }

  const change = async <T>(call: () => Promise<T>): Promise<T> => {
    if (world.callsLeft <= 0) throw new Killed()
    world.callsLeft -= 1
    if (world.callsLeft === 0 && !world.diesAfter) throw new Killed()
    const result = await call()
    if (world.callsLeft === 0) throw new Killed()
    return result
  }

  const queue: IntentQueue = {
    sendBatch: (batch) =>
      change(async () => {
        for (const { body } of batch) messages.push({ body, receives: 0 })
        return { taken: batch.map(({ id }) => ({ id, messageId: id })), refused: [] }
      }),
  }
  const api: LimitsApi = {
    setUserCreditLimits: async (users) => {
      if (users.some(({ email }) => fates.get(email) === 'fail')) {
        throw new RetryableError('the platform is in trouble', { code: 'server_error' })
      }
      const [updated, errors]: [unknown[], unknown[]] = [[], []]
      for (const { email, limit } of users) {
        const fate = fates.get(email)
        if (fate === 'reject') errors.push({ email, error: 'refused' })
        if (fate !== undefined) continue
        platform.set(email, limit)
        updated.push({ email, limit })
      }
      return { updated, errors }
    },
  }
  const worker = workerOn({ api, clock })
  const objects = {
    ...bucket,
    put: (key: string, bytes: Uint8Array) =>
      change(async () => {
        written.push(key)
        await bucket.put(key, bytes)
      }),
  }
  const store = createPolicyStore(objects)

  const deps = (): KeepPolicyDeps => ({
    folder: { read: (name) => folderOf({ 'policy.yaml': world.policy }).read(name) },
    users: {
      newest: async () => {
        if (world.suspect) return { unusable: 'suspect' }
        const users = [...world.users]
        return { scanId: `scan-${world.scans}`, key: JSON.stringify(users), read: async () => users }
      },
    },
    queued: async () => messages.length,
    reader: worker.reader,
    ...{ store, queue, clock, rules: defaultRules, random: Math.random, log: silentLog, metrics: noMetrics },
  })

  /** The worker takes what is on the queue, at most so many messages; what fails stays. */
  const deliver = async (most = Number.POSITIVE_INFINITY) => {
    const batch = messages.splice(0, Math.min(most, 10))
    if (batch.length === 0) return
    for (const one of batch) one.receives += 1
    const sent = batch.map((one) => ({ one, ...message(one.body, one.receives) }))
    const { failed } = await worker.apply(sent)
    const again = new Set(failed.map(({ messageId }) => messageId))
    messages.unshift(...sent.filter(({ messageId }) => again.has(messageId)).map(({ one }) => one))
  }
  const drain = async () => {
    fates.clear()
    while (messages.length > 0) await deliver()
  }

  return Object.assign(world, {
    ...{ store, worker, deliver, drain },
    /** A new scan of the users. */
    scan: (users: Record<string, string>) => {
      world.users = Object.entries(users).map(([email, department]) => user(email, { department }))
      world.scans += 1
    },
    keep: (options: { all?: boolean } = {}) => keepPolicy(deps(), options),
    approve: (planId: string) => approvePlan({ planId, approvedBy: 'cy', reason: 'a move' }, deps()),
    /** A file that was dropped by hand. */
    byHand: (email: string, limit: number, until?: string) => {
      const now = clock.now()
      const entry = { email, limit, ...(until === undefined ? {} : { until }) }
      const request = {
        requestId: `hand-${now}`,
        requestedAt: new Date(now).toISOString(),
        sourceKind: 'file' as const,
      }
      messages.push({ body: JSON.stringify(intent([entry], request)), receives: 0 })
    },
    limits: async () => {
      const known: Record<string, number | null> = {}
      for await (const { identity, limit } of worker.reader.allStates()) known[identity] = limit
      return known
    },
  })
}
export type PolicyWorld = ReturnType<typeof policyWorld>

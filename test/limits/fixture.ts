import { afterAll, beforeEach } from 'vitest'
import type { Deadline } from '../../lib/core/deadline.ts'
import { deadlineAfter } from '../../lib/core/deadline.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { type ApplyDeps, applyMessages } from '../../lib/limits/apply/apply.ts'
import type { LimitMessage } from '../../lib/limits/apply/messages.ts'
import { defaultRules } from '../../lib/limits/entries.ts'
import type { IntentMessage } from '../../lib/limits/intake/publisher.ts'
import type { IntentEntry } from '../../lib/limits/intent.ts'
import type { LimitsApi } from '../../lib/limits/ports.ts'
import { startSimulator } from '../../lib/local/simulator/simulator.ts'
import { createLedger, createLedgerReader, type LedgerParts } from '../../lib/stores/ledger.ts'
import type { EntryOrigin, LimitOutcome } from '../../lib/streams/limit-outcome.ts'
import { clientOf, fakeClock } from '../platform/fixture.ts'
import { memoryParts } from './memory.ts'

export const start = Date.parse('2026-05-06T10:00:00Z')

/** A time of a request: seconds after (or before) ten o'clock. */
export function at(seconds: number): string {
  return new Date(start + seconds * 1000).toISOString()
}

let owners = 0
export function newOwner(): string {
  return `worker-${++owners}`
}

/** An intent, its entries as `email: limit`. */
export function intent(
  limits: Record<string, unknown> | readonly ({ email: unknown; limit: unknown } & EntryOrigin)[],
  fields: Partial<IntentMessage> = {},
): IntentMessage {
  return {
    version: 1,
    requestId: 'request-1',
    requestedAt: at(0),
    requestedBy: 'it@example.com',
    source: 'test',
    limits: (Array.isArray(limits)
      ? limits
      : Object.entries(limits).map(([email, limit]) => ({ email, limit }))) as IntentEntry[],
    ...fields,
  }
}

let messages = 0
export function message(body: unknown, receiveCount = 1): LimitMessage {
  return {
    messageId: `message-${++messages}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    receiveCount,
  }
}

export type Put = { email: string; limit: number }[]

/** A simulated platform with its client, and every PUT it received. */
export async function startPlatform() {
  const simulator = await startSimulator({ counts: { users: 400 } })
  const clock = fakeClock()
  const puts: Put[] = []
  const recording: typeof fetch = async (url, init) => {
    if (init?.method === 'PUT') puts.push((JSON.parse(String(init.body)) as { users: Put }).users)
    return await fetch(url, init)
  }
  const api = clientOf(simulator.url, { fetch: recording, clock, credentials: keyOf('sim-key') })
  const users = await usersOf(api)
  return { simulator, api, puts, users, clock }
}
export type Platform = Awaited<ReturnType<typeof startPlatform>>

/** A platform for the tests of one file: it has no limits and no faults when a test begins, and ends with the last. */
export async function usePlatform(): Promise<Platform> {
  const platform = await startPlatform()
  afterAll(() => platform.simulator.close())
  beforeEach(() => {
    platform.simulator.clearFaults()
    platform.simulator.limits.clear()
    platform.puts.length = 0
  })
  return platform
}

function keyOf(key: string) {
  return { current: async () => key, refresh: async () => key }
}

async function usersOf(api: ReturnType<typeof clientOf>): Promise<string[]> {
  const emails: string[] = []
  let cursor: string | undefined
  do {
    const page = await api.listOrganizationUsers({ limit: 100, ...(cursor ? { cursor } : {}) })
    for (const { email } of page.users) if (email) emails.push(email)
    cursor = page.pagination.hasMore ? (page.pagination.nextCursor ?? undefined) : undefined
  } while (cursor)
  return emails
}

/** A worker over a ledger (in memory, unless another is given) and a platform. */
export function workerOn(
  platform: Pick<Platform, 'clock'> & { api: LimitsApi },
  given?: LedgerParts,
  more: Partial<ApplyDeps> = {},
) {
  const { clock } = platform
  const parts = given ?? memoryParts(clock)
  const ledger = createLedger(parts)
  const reader = createLedgerReader(parts)
  const apply = (batch: LimitMessage[], overrides: Partial<ApplyDeps> & { deadline?: Deadline } = {}) =>
    applyMessages(batch, {
      api: platform.api,
      ledger,
      clock,
      newOwner,
      rules: defaultRules,
      deadline: deadlineAfter(clock, 60_000),
      log: silentLog,
      metrics: noMetrics,
      ...more,
      ...overrides,
    })
  return { parts, ledger, reader, apply }
}

/** The outcomes of a request in the order of its entries, as "outcome" or "outcome: reason". */
export function outcomesOf(outcomes: LimitOutcome[], requestId: string): string[] {
  return outcomes
    .filter((outcome) => outcome.requestId === requestId)
    .sort((a, b) => a.index - b.index)
    .map(({ outcome }) => outcome)
}

/** Everything that a reader knows. */
export async function allOutcomes(reader: ReturnType<typeof createLedgerReader>): Promise<LimitOutcome[]> {
  return allOf(reader.outcomesBetween(start - 86_400_000, start + 30 * 86_400_000))
}

/** All that an iterable yields. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

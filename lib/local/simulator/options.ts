import type { Order, Rates } from './population.ts'

/** The resources the platform lists. */
export const resourceNames = ['reports', 'sessions', 'users', 'revisions', 'computers'] as const
export type ResourceName = (typeof resourceNames)[number]

/** What to simulate; everything has a default, and the same options give the same platform. */
export type SimulatorOptions = {
  seed?: number
  /** The keys that are accepted as Bearer; `sim-key` when none is given. */
  apiKey?: string | readonly string[]
  /** How many of each there are before the clock moves; `messagesPerSession` is an average. */
  counts?: Partial<Record<ResourceName | 'messagesPerSession', number>>
  /** The platform's clock at the start, in Unix ms. */
  startedAt?: number
  /** Shares that change, appear and go with each `advance`. Revisions are only ever added. */
  rates?: Partial<Record<ResourceName, Partial<Rates>>>
  /** The share of messages whose content has a form that the API does not foresee. */
  oddMessages?: number
  /** Waited before each answer. */
  latencyMs?: number
  /** The most records a page holds, whatever limit was asked for. */
  pageCap?: number
  order?: Order
  /** 0 takes a free port. */
  port?: number
}

export type Settings = {
  seed: number
  apiKeys: readonly string[]
  counts: Record<ResourceName | 'messagesPerSession', number>
  startedAt: number
  rates: Record<ResourceName, Rates>
  oddMessages: number
  latencyMs: number
  pageCap: number
  order: Order
  port: number
}

const defaultRates: Record<ResourceName, Rates> = {
  reports: { changed: 0.01, added: 0.05, removed: 0.01 },
  sessions: { changed: 0.05, added: 0.03, removed: 0.01 },
  users: { changed: 0.05, added: 0.02, removed: 0.02 },
  revisions: { changed: 0, added: 0.1, removed: 0 },
  computers: { changed: 0.1, added: 0.05, removed: 0.02 },
}

/** The options with their defaults. */
export function settingsOf(options: SimulatorOptions): Settings {
  return {
    seed: options.seed ?? 1,
    apiKeys: [options.apiKey ?? 'sim-key'].flat(),
    counts: {
      reports: 200,
      sessions: 1_000,
      users: 300,
      revisions: 40,
      computers: 12,
      messagesPerSession: 4,
      ...options.counts,
    },
    startedAt: options.startedAt ?? Date.UTC(2026, 10, 1),
    rates: Object.fromEntries(
      resourceNames.map((name) => [
        name,
        {
          ...defaultRates[name],
          ...options.rates?.[name],
          ...(name === 'revisions' ? { changed: 0, removed: 0 } : {}),
        },
      ]),
    ) as Record<ResourceName, Rates>,
    oddMessages: options.oddMessages ?? 0,
    latencyMs: options.latencyMs ?? 0,
    pageCap: options.pageCap ?? 1_000,
    order: options.order ?? 'created',
    port: options.port ?? 0,
  }
}

import type { Life } from '../population.ts'
import { hash32, pick, unit } from '../random.ts'

const models = ['atlas-large', 'atlas-small', 'borealis-2', 'borealis-2-fast', 'custom:team-llm'] as const
const efforts = ['none', 'low', 'medium', 'high'] as const
const verbs = ['Fix', 'Add', 'Refactor', 'Explain', 'Review', 'Speed up', 'Document', 'Test'] as const
const things = [
  'login',
  'the invoice export',
  'flaky checkout tests',
  'the search index',
  'retries',
  'CI',
  'the parser',
  'Übersetzung',
] as const
const tools = ['read', 'edit', 'execute', 'web_search', 'glob'] as const
const hourMs = 3_600_000

/** What a session knows of its neighbours: its computer, if any, another session's id, and how many messages it has. */
type SessionContext = { id: string; computerId: string | undefined; childId: string; messages: number }

/** A session as the API sends it (§2.2). */
export function sessionOf(life: Life, { id, computerId, childId, messages }: SessionContext): Record<string, unknown> {
  const { key, version, createdAt, changedAt } = life
  const rare = (salt: number, share: number) => unit(key, salt) < share
  const done = rare(10, 0.6)
  return {
    sessionId: id,
    title: rare(11, 0.08)
      ? undefined
      : rare(12, 0.03)
        ? null
        : `${pick(verbs, hash32(key, 13))} ${pick(things, hash32(key, 14, version))}`,
    status: done ? 'idle' : pick(['running', 'pending', 'idle'], hash32(key, 15, version)),
    messageCount: messages,
    createdAt,
    updatedAt: updatedAtOf(life),
    completedAt: done ? updatedAtOf(life) : rare(16, 0.2) ? null : undefined,
    computerId: rare(17, 0.1) ? undefined : computerId,
    sessionSettings: rare(18, 0.04) ? undefined : settingsOf(key, version, { childId, changedAt }),
  }
}

/** When a session last changed: what becomes of its messages shows here. */
export function updatedAtOf({ key, version, createdAt, changedAt }: Life): number {
  return version > 0 ? changedAt : createdAt + Math.floor(unit(key, 19) * 1000)
}

type Extra = { childId: string; changedAt: number }

function settingsOf(key: number, version: number, { childId, changedAt }: Extra): Record<string, unknown> {
  const has = (salt: number, share: number) => unit(key, salt) < share
  const model = pick(models, hash32(key, 30))
  return {
    model: has(31, 0.97) ? model : undefined,
    reasoningEffort: has(32, 0.9) ? pick(efforts, hash32(key, 33)) : undefined,
    interactionMode: has(34, 0.9) ? pick(['auto', 'spec'], hash32(key, 35)) : undefined,
    autonomyLevel: has(36, 0.9) ? pick(['off', 'low', 'medium', 'high'], hash32(key, 37)) : undefined,
    autonomyMode: has(38, 0.8) ? 'normal' : undefined,
    specModeModel: has(39, 0.3) ? pick(models, hash32(key, 40)) : undefined,
    specModeReasoningEffort: has(39, 0.2) ? 'none' : has(41, 0.02) ? null : undefined,
    providerLock: has(42, 0.15) ? pick(['vendor-a', 'vendor-b'], hash32(key, 43)) : undefined,
    providerLockTimestamp: has(42, 0.15) ? new Date(changedAt - hourMs).toISOString() : undefined,
    apiProviderLock: has(44, 0.1) ? 'cloud-a' : undefined,
    assistantActiveTimeMs: has(45, 0.95) ? (hash32(key, 46) % 900_000) + version * 60_000 : undefined,
    tokenUsage: has(47, 0.95) ? usageOf(key, version, 1) : undefined,
    inclusiveTokenUsage: has(48, 0.9) ? usageOf(key, version, 1.25) : undefined,
    childInclusiveTokenUsageBySessionId: has(49, 0.08) ? { [childId]: usageOf(key, version, 0.25) } : undefined,
    archivedAt: has(50, 0.05) ? new Date(changedAt).toISOString() : undefined,
    tags: has(51, 0.5) ? tagsOf(key, version) : undefined,
    enabledToolIds: has(52, 0.2) ? tools.slice(0, 1 + (hash32(key, 53) % 4)) : undefined,
    disabledToolIds: has(54, 0.1) ? ['web_search'] : undefined,
  }
}

/** Counts that only grow: a change adds to each of them. */
function usageOf(key: number, version: number, share: number): Record<string, unknown> {
  const tokens = (salt: number, most: number) => Math.floor((hash32(key, salt) % most) * (1 + version * 0.2) * share)
  const input = tokens(60, 400_000)
  const output = tokens(61, 40_000)
  return {
    inputTokens: input,
    outputTokens: output,
    cacheCreationTokens: tokens(62, 90_000),
    cacheReadTokens: tokens(63, 2_000_000),
    thinkingTokens: unit(key, 64) < 0.9 ? tokens(65, 20_000) : undefined,
    platformCredits: Math.round(input / 4 + output * 1.5) / 100,
  }
}

function tagsOf(key: number, version: number): unknown[] {
  const team = { name: 'team', metadata: { value: pick(['web', 'core', 'data', 'mobile'], hash32(key, 70)) } }
  if (unit(key, 71) < 0.4) return [team]
  return [team, { name: `sprint-${1 + (version % 9)}`, ...(unit(key, 72) < 0.5 ? { metadata: {} } : {}) }]
}

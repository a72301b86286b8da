import type { Json } from '../../lib/core/json.ts'
import { settingsAt } from '../../lib/local/simulator/records/enterprise-settings.ts'

/** A record as the platform lists it. */
export type Listed = { [key: string]: Json }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const daysOfSessions = 60
const models = ['atlas-large', 'atlas-small', 'borealis-2', 'borealis-2-fast', 'custom:team-llm'] as const
const teams = ['web', 'core', 'data', 'mobile'] as const
const computers = ['build-eu-1', 'build-eu-2', 'build-us-1', 'gpu-lab', 'nightly', 'workshop'] as const
const repositories = ['storefront', 'billing', 'search', 'mobile-app', 'auth'] as const
const criteria = [
  'agents_md',
  'ci_runs_tests',
  'codeowners',
  'formatter',
  'lint_config',
  'readme',
  'unit_tests',
] as const
const people = ['ana.costa', 'ben.okafor', 'mei.tanaka', 'rut.lind', 'jo.berg', 'lea.marsh', 'omar.haddad', 'kim.sato']

/** A number from 0 to 1 that looks drawn by lot, and is the same in each run. */
function chance(...of: readonly number[]): number {
  const mixed = of.reduce((sum, n) => Math.imul(sum ^ (n + 0x9e37), 0x85ebca6b) ^ (sum >>> 13), 0x2545f491)
  return (Math.imul(mixed ^ (mixed >>> 16), 0xc2b2ae35) >>> 8) / 2 ** 24
}

function oneOf<T>(all: readonly T[], ...of: readonly number[]): T {
  return all[Math.floor(chance(...of) ** 1.6 * all.length)] as T
}

function named(name: string): string {
  return `${name}@example.com`
}

/** Whole days from the first session to a time. */
function days(count: number): number[] {
  return Array.from({ length: count }, (_, day) => day)
}

/** The sessions that there are at a time: few at weekends, more from week to week, the newest still at work. */
export function sessionsAt(at: number, end: number): Listed[] {
  const first = end - (end % dayMs) - daysOfSessions * dayMs
  return days(daysOfSessions + 1)
    .flatMap((day) => {
      const begins = first + day * dayMs
      const isWeekend = [0, 6].includes(new Date(begins).getUTCDay())
      const count = Math.round((isWeekend ? 2 : 9 + day / 8) * (0.7 + 0.6 * chance(day)))
      return days(count).map((n) => sessionOf(begins + (7 + 12 * chance(day, n)) * hourMs, { id: day * 100 + n, at }))
    })
    .filter(({ createdAt }) => Number(createdAt) < at)
}

function sessionOf(createdAt: number, { id, at }: { id: number; at: number }): Listed {
  const age = Math.min(3, Math.max(0, Math.floor((at - createdAt) / dayMs)))
  const size = (1 + age) * (0.2 + chance(id, 1) ** 3 * 4)
  const [inputTokens, outputTokens] = [Math.round(size * 90_000), Math.round(size * 9_000)]
  const tokenUsage = {
    ...{ inputTokens, outputTokens, cacheReadTokens: inputTokens * 5, cacheCreationTokens: outputTokens * 2 },
    platformCredits: Math.round(inputTokens / 4 + outputTokens * 1.5) / 1000,
  }
  return {
    ...{ sessionId: `s${id}`, title: 'Fix flaky checkout tests', status: age === 3 ? 'idle' : 'running' },
    ...{ createdAt: Math.round(createdAt), updatedAt: Math.round(createdAt + age * dayMs), messageCount: 4 + age * 3 },
    computerId: oneOf(computers, id, 2),
    sessionSettings: { model: oneOf(models, id, 3), tags: [{ name: oneOf(teams, id, 4) }], tokenUsage },
  }
}

export function computersAt(): Listed[] {
  return computers.map((name) => ({ id: name, name }))
}

/** Reports of some repositories, one a week each, that get better. */
export function reportsAt(at: number, end: number): Listed[] {
  return days(daysOfSessions)
    .filter((day) => day % 7 < repositories.length)
    .map((day): Listed => {
      const repository = repositories[day % 7] as string
      const passed = (n: number) => (chance(n, day % 7) < 0.35 + (day / daysOfSessions) * 0.5 ? 1 : 0)
      const report = criteria.map((name, n) => [
        name,
        { numerator: passed(n), denominator: 1, rationale: 'As the files of the repository say.' },
      ])
      const createdAt = end - (daysOfSessions - day) * dayMs
      const repoUrl = `https://git.example.com/example/${repository}`
      return { reportId: `r${day}`, createdAt, repoUrl, apps: {}, report: Object.fromEntries(report) }
    })
    .filter(({ createdAt }) => Number(createdAt) < at)
}

/** People of the organization: some come, and some leave. */
export function usersAt(at: number, end: number): Listed[] {
  return days(48)
    .map((n) => ({ n, createdAt: end - Math.floor(chance(n, 5) ** 2 * 150) * dayMs }))
    .filter(({ n, createdAt }) => createdAt < at && !(n % 16 === 9 && at > end - (n % 13) * dayMs))
    .map(({ n, createdAt }) => ({
      id: `u${n}`,
      email: named(`${people[n % 8]}${n < 8 ? '' : n}`),
      createdAt: textOf(createdAt),
    }))
}

/** What agents on people's machines told between two times: waits for somebody, and ends. */
export function eventsBetween(from: number, until: number, end: number): Listed[] {
  const events = sessionsAt(end, end).flatMap(({ sessionId = null, createdAt }, n) => {
    const waits = Number(createdAt) + 20 * 60_000
    const ends = waits + chance(n, 6) ** 4 * 4 * hourMs
    const reason = oneOf(['prompt_input_exit', 'logout', 'clear', 'other'], n, 7)
    const event = (at: number, eventName: string, more: Listed): Listed => ({
      ...{ eventId: `${sessionId}-${eventName}`, eventName, sessionId, occurredAt: textOf(at), receivedAt: textOf(at) },
      ...{ storedAt: textOf(at), ...more },
    })
    return n % 3 === 0 ? [] : [event(waits, 'Notification', {}), event(ends, 'SessionEnd', { reason })]
  })
  return events.filter(({ storedAt }) => textOf(from) <= String(storedAt) && String(storedAt) < textOf(until))
}

/** Credit limits that were set between two times. */
export function outcomesBetween(from: number, until: number, end: number): Listed[] {
  return days(90)
    .map((n) => ({ n, at: end - (89 - n) * 0.66 * dayMs - hourMs }))
    .filter(({ at }) => from <= at && at < until)
    .map(({ n, at }) => {
      const address = named(`${people[n % 8]}${n % 40 < 8 ? '' : n % 40}`)
      return {
        ...{ outcomeId: `o${n}`, requestId: `q${n}`, requestedAt: textOf(at), requestedBy: named('it'), index: 0 },
        ...{ source: 'policy', identity: address, address, limit: 400 + 50 * ((n * 7) % 23), previousLimit: null },
        ...{ outcome: 'applied', reason: null, apiCall: null, recordedAt: textOf(at) },
        until: n % 9 === 0 ? textOf(end + ((n % 25) + 1) * dayMs) : null,
      }
    })
}

export function revisionsAt(at: number, end: number): Listed[] {
  return days(24)
    .map((n) => ({
      ...{ revision: n + 1, settings: JSON.parse(JSON.stringify(settingsAt(n + 1))) as Json },
      updatedAt: textOf(end - (23 - n) * 2.5 * dayMs - hourMs),
    }))
    .filter(({ updatedAt }) => updatedAt < textOf(at))
}

function textOf(time: number): string {
  return new Date(time).toISOString()
}

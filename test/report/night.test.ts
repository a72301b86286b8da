import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import { costOf } from '../../lib/report/night/cost.ts'
import { type NightPorts, readNight } from '../../lib/report/night/facts.ts'
import { nightSections } from '../../lib/report/night/sections.ts'
import { verdictOf } from '../../lib/report/night/verdict.ts'
import { unknownFieldsIn } from '../../lib/streams/known.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Checkpoint, Counts, newCheckpoint } from '../../lib/sync/checkpoint.ts'
import type { KnownSchedule } from '../../lib/sync/schedules.ts'
import { summaryOf } from '../stores/samples.ts'
import { createMemoryRuns } from '../support/memory/publications.ts'

const hour = 3_600_000
const now = Date.UTC(2026, 10, 28, 12)
const schedules: KnownSchedule[] = [
  {
    ...{ name: 'nightly', expression: 'cron(0 2 * * ? *)', timeZone: 'UTC', alarmAfterHours: 26, report: true },
    streams: ['sessions', 'computers', 'organization_users'],
  },
  {
    ...{ name: 'often', expression: 'rate(15 minutes)', timeZone: 'UTC', alarmAfterHours: 2, report: false },
    streams: ['computers'],
  },
]

/** A stream that was read whole so many hours ago. */
function readAgo(stream: string, hours: number, values: Partial<Checkpoint> = {}): Checkpoint {
  const completeAt = now - hours * hour
  const lastScan = summaryOf({ stream, startedAt: completeAt, completedAt: completeAt + 60_000 })
  return { ...newCheckpoint(stream), fence: 1, status: 'complete', completeAt, lastScan, ...values }
}

type Behind = Awaited<ReturnType<NightPorts['publications']['behind']>>

function portsOf(
  checkpoints: readonly Checkpoint[],
  runs: NightPorts['runs'] = createMemoryRuns(),
  behind: Behind = {},
): NightPorts {
  return {
    checkpoints: {
      look: async () => (name) => ({
        checkpoint: checkpoints.find(({ stream }) => stream === name) ?? null,
        holder: null,
      }),
    },
    runs,
    publications: { behind: async () => ({ ...behind }) },
    hasPublished: async () => false,
    messages: false,
    lake: { readFiles: async () => [], readManifest: async () => null },
    rows: { read: async function* () {}, reasons: async () => [] },
  }
}

async function arrivals(checkpoints: readonly Checkpoint[]) {
  const { streams, look } = await readNight(portsOf(checkpoints), { now, schedules })
  return {
    of: Object.fromEntries(streams.map(({ stream, arrival }) => [stream, arrival])),
    text: verdictOf({ streams, look }).text,
  }
}

function htmlOf(facts: Awaited<ReturnType<typeof readNight>>): string {
  return nightSections(facts)
    .map(({ body }) => body.html)
    .join('\n')
}

describe('whether a stream is in', () => {
  it('is told by its age and the strictest schedule that reads it', async () => {
    const { of, text } = await arrivals([readAgo('sessions', 25.9), readAgo('computers', 2.1)])
    expect(of).toMatchObject({
      sessions: 'in',
      computers: 'late',
      organization_users: 'missing',
      hook_events: 'unused',
    })
    expect(text).toBe('No. Of 3 streams 2 are not in: organization_users (not in yet), computers (late).')
  })

  it('is not told by age where no schedule reads it', async () => {
    const { of } = await arrivals([readAgo('readiness_reports', 9_000)])
    expect(of.readiness_reports).toBe('in')
  })

  it.each(['failed', 'suspect', 'rate_limited'] as const)('is no while its last attempt is %s', async (status) => {
    const { of, text } = await arrivals([readAgo('sessions', 1, { status })])
    expect(of.sessions).toBe('trouble')
    expect(text).toContain(`sessions (${status})`)
  })

  it('stays yes while it is read again', async () => {
    expect((await arrivals([readAgo('sessions', 1, { status: 'paused' })])).of.sessions).toBe('in')
  })
})

/** Runs of a schedule, the newest last, which receive 1, 2, 3 ... records. */
async function nights(
  runs: ReturnType<typeof createMemoryRuns>,
  { count, every, stream }: { count: number; every: number; stream: string },
) {
  for (let n = 1; n <= count; n++) {
    const scheduledAt = now - (count - n) * every
    const counts = Counts.parse({ received: n, unchanged: n })
    const of = { stream, status: n === count ? 'failed' : 'complete', reason: null, counts } as const
    const record: RunRecord = {
      runId: `${stream}-${n}`,
      scheduledAt,
      finishedAt: scheduledAt,
      status: 'complete',
      streams: [of],
    }
    await runs.write(record)
  }
}

describe('the last runs', () => {
  it('are 30 of each stream, however often others are read', async () => {
    const runs = createMemoryRuns()
    await nights(runs, { count: 40, every: 24 * hour, stream: 'sessions' })
    await nights(runs, { count: 500, every: hour / 4, stream: 'enterprise_control_revisions' })
    const { streams } = await readNight(portsOf([], runs), { now, schedules })
    const received = (name: string) =>
      streams.find(({ stream }) => stream === name)?.runs.map(({ counts }) => counts?.received)
    expect(received('sessions')).toEqual(Array.from({ length: 30 }, (_, n) => 40 - n))
    expect(received('enterprise_control_revisions')).toEqual(Array.from({ length: 30 }, (_, n) => 500 - n))
    expect(received('computers')).toEqual([])
  })

  it('are lines that say in words what they show, and mark what did not end well', async () => {
    const runs = createMemoryRuns()
    await nights(runs, { count: 3, every: hour, stream: 'sessions' })
    const page = htmlOf(await readNight(portsOf([readAgo('sessions', 1)], runs), { now, schedules }))
    expect(page).toContain(
      'aria-label="Received of sessions in 3 runs: between 1 and 3, in the last 3; 1 did not end well"',
    )
    expect(page.match(/class="odd"/g)).toHaveLength(3)
  })
})

it('tells tables that are behind, with the reason', async () => {
  const since = '2026-11-28T02:00:00.000Z'
  const behind = {
    sessions: { since, reason: null, triedAt: 0 },
    computers_current: { since, reason: 'its metadata is damaged', triedAt: 0 },
  }
  const page = htmlOf(await readNight(portsOf([readAgo('sessions', 1)], undefined, behind), { now, schedules }))
  expect(page).toMatch(/<strong>computers_current<.strong>: the table lacks [\s\S]*?UTC. its metadata is damaged/)
  expect(page).toMatch(/<strong>sessions<.strong>: the table lacks [\s\S]*?UTC. There was no time for it yet/)
})

describe('unknown fields', () => {
  it('are named up to the first name that the schema does not know: what they hold is data, its keys included', () => {
    const extra = {
      seat: { 'jane@people.example': 1 },
      sessionSettings: { tags: { 0: { color: 'red' }, 7: { color: 'blue' } }, theme: ['dark'] },
    }
    expect(unknownFieldsIn(sessions.schema, extra)).toEqual([
      'seat',
      'sessionSettings.tags[].color',
      'sessionSettings.theme',
    ])
  })

  it('may have the names of what every object has', () => {
    const extra = JSON.parse('{"constructor":1,"toString":{},"sessionSettings":{"__proto__":[1],"valueOf":2}}')
    expect(unknownFieldsIn(sessions.schema, extra)).toEqual([
      'constructor',
      'toString',
      'sessionSettings.__proto__',
      'sessionSettings.valueOf',
    ])
  })
})

describe('the cost of a run', () => {
  const of = (stream: string) => ({
    stream,
    status: 'complete' as const,
    reason: null,
    counts: Counts.parse({ received: 90, inserted: 90, apiCalls: 9 }),
    ofRun: Counts.parse({ received: 10, inserted: 2, updated: 1, unchanged: 7, deleted: 4, apiCalls: 2 }),
  })
  const run = { runId: 'r', scheduledAt: now, finishedAt: now, status: 'complete' as const }

  it('counts what the run itself asked and wrote, not what its scans did before it', () => {
    const cost = costOf({ ...run, streams: [of('sessions'), of('computers')] }, [{ bytes: 7 }, { bytes: 8 }])
    expect(cost).toMatchObject({ requests: 4, received: 20, recordWrites: 14, files: 2, bytes: 15 })
    expect(cost.usd).toBeGreaterThan(0)
  })

  it('is no sum of money where the table of costs does not hold', () => {
    expect(costOf({ ...run, streams: [of('session_messages')] }, []).usd).toBeNull()
  })
})

import { currentFiles } from '../../lib/publish/iceberg/current-files.ts'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import { makeNightlyPage, type NightlyPorts } from '../../lib/report/nightly-page.ts'
import { createFileRows } from '../../lib/stores/file-rows.ts'
import { createLakeRows } from '../../lib/stores/lake-rows.ts'
import { computers } from '../../lib/streams/computers.ts'
import { creditLimitOutcomes } from '../../lib/streams/credit-limit-outcomes.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { hookEvents } from '../../lib/streams/hook-events.ts'
import { streams } from '../../lib/streams/index.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import type { StreamState } from '../../lib/sync/ports.ts'
import type { KnownSchedule } from '../../lib/sync/schedules.ts'
import { createMemoryRuns } from '../support/memory/publications.ts'
import { createTablesWorld, type TablesWorld } from '../support/tables/tables-world.ts'
import { listOf } from '../sync/support/source.ts'
import {
  computersAt,
  eventsBetween,
  type Listed,
  outcomesBetween,
  reportsAt,
  revisionsAt,
  sessionsAt,
  usersAt,
} from './night-data.ts'
import type { PageUnderTest } from './pages.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nights = 14
const schedules: KnownSchedule[] = [
  {
    ...{ name: 'nightly', expression: 'cron(0 2 * * ? *)', timeZone: 'UTC', alarmAfterHours: 26, report: true },
    streams: streams.filter(({ parent }) => parent === undefined).map(({ name }) => name),
  },
]

type Lists = readonly (readonly [Stream, Listed[]])[]
type Installation = { world: TablesWorld; runs: ReturnType<typeof createMemoryRuns> }

/** An installation in memory, in which nothing was synced yet. */
function newInstallation(): Installation {
  return { world: createTablesWorld(), runs: createMemoryRuns() }
}

/** A run of the nightly schedule: what the platform lists is synced, published and put on record. */
async function runNight({ world, runs }: Installation, lists: Lists): Promise<void> {
  const run = world.newRun()
  const ended: RunRecord['streams'] = []
  for (const [stream, records] of lists) {
    const { status, reason, counts, ofRun } = await world.sync(stream, listOf(records), { runId: run.runId })
    ended.push({ stream: stream.name, status, reason, counts, ofRun })
  }
  await world.publishRun(run)
  await runs.write({ ...run, finishedAt: world.clock.now() + 240_000, status: 'complete', streams: ended })
}

/** What the page is made from. */
function portsOf({ world, runs }: Installation): NightlyPorts {
  const { lake, objects } = world
  const { files, rows, pointers, address } = world.icebergDeps()
  return {
    ...{ lake, runs, schedules, messages: false, hasPublished: async () => true, rows: createFileRows(objects) },
    publications: { behind: async () => ({}) },
    checkpoints: {
      look: async () => {
        const states = streams.map(async ({ name }) => [name, await world.checkpoints.read(name)] as const)
        const known = new Map(await Promise.all(states))
        return (name): StreamState => ({ checkpoint: known.get(name) ?? null, holder: null })
      },
    },
    lakeRows: createLakeRows({
      files,
      rows,
      lake,
      currentFiles: (of) => currentFiles(of, { files, pointers, address }),
    }),
  }
}

/** The page on two weeks of good nights. */
async function usualNight(): Promise<string> {
  const installation = newInstallation()
  const { clock } = installation.world
  clock.advance(14 * hourMs)
  const end = clock.now() + nights * dayMs
  for (let night = 0, from = 0; night < nights; night++) {
    // A run begins an hour later.
    clock.advance(dayMs - hourMs)
    const at = clock.now() + hourMs
    await runNight(installation, [
      [sessions, sessionsAt(at, end)],
      [readinessReports, reportsAt(at, end)],
      [organizationUsers, usersAt(at, end)],
      [computers, computersAt()],
      [enterpriseControlRevisions, revisionsAt(at, end)],
      [hookEvents, eventsBetween(from, at, end)],
      [creditLimitOutcomes, outcomesBetween(from, at, end)],
    ])
    from = at
  }
  return (await makeNightlyPage(portsOf(installation), { now: clock.now() + hourMs })).page
}

/** The page in which names, values and reasons are `text`. */
async function hostileNight(text: string): Promise<string> {
  const installation = newInstallation()
  const { clock } = installation.world
  await runNight(installation, hostileLists(text, clock.now()))
  const { runs } = installation
  const newest = await runs.latest()
  const notices = [{ severity: 'critical' as const, code: 'odd', about: text, message: text }]
  if (newest) await runs.write({ ...newest, streams: newest.streams.map((each) => ({ ...each, notices })) })
  return (
    await makeNightlyPage(withHostileReasons(portsOf(installation), text), {
      now: clock.now(),
      place: ` --local=${text}`,
    })
  ).page
}

function hostileLists(text: string, at: number): Lists {
  const [session] = sessionsAt(at, at)
  const [report] = reportsAt(at, at)
  const [outcome] = outcomesBetween(0, at, at)
  const [event] = eventsBetween(0, at, at).filter(({ eventName }) => eventName === 'SessionEnd')
  const odd = { status: text, computerId: text, title: text, [text]: text, messageCount: text }
  const sessionSettings = { model: text, tags: [{ name: text }], tokenUsage: { platformCredits: 7, inputTokens: 9 } }
  return [
    [
      sessions,
      [
        { ...session, ...odd, sessionSettings },
        { sessionId: '', title: text },
      ],
    ],
    [computers, [{ id: text, name: text }]],
    [
      readinessReports,
      [{ ...report, repoUrl: text, report: { [text]: { numerator: 1, denominator: 2, rationale: text } } }],
    ],
    [organizationUsers, [{ id: 'u', email: text, createdAt: text }]],
    [creditLimitOutcomes, [{ ...outcome, identity: text, address: text, until: new Date(at + dayMs).toISOString() }]],
    [hookEvents, [{ ...event, reason: text, occurredAt: new Date(at - hourMs).toISOString() }]],
  ]
}

/** Has what is ours speak in the words of others, as if a later version took them over. */
function withHostileReasons(ports: NightlyPorts, text: string): NightlyPorts {
  const { checkpoints, rows } = ports
  return {
    ...ports,
    checkpoints: {
      look: async (now) => {
        const stateOf = await checkpoints.look(now)
        return (name) => {
          const { checkpoint, holder } = stateOf(name)
          const last = checkpoint?.lastScan
          if (!checkpoint || !last) return { checkpoint, holder }
          const lastScan = { ...last, counts: { ...last.counts, invalid: { [text]: 3 } } }
          return { checkpoint: { ...checkpoint, lastScan, reason: text }, holder }
        }
      },
    },
    rows: {
      reasons: async () => [[text, text]],
      read: async function* (file, columns) {
        if (columns[0]?.name === '_invalid') yield [[JSON.stringify([{ field: text, reason: text }])]]
        else yield* rows.read(file, columns)
      },
    },
  }
}

let made: Promise<string> | undefined

/** The page of the night. */
export const nightPage: PageUnderTest = {
  name: 'night',
  title: 'The night at a glance',
  usual: () => {
    made ??= usualNight()
    return made
  },
  hostile: hostileNight,
  printedPages: 14,
}

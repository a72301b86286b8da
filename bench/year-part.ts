import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from '../lib/local/simulator/simulator.ts'
import { listPrices } from '../lib/report/night/cost.ts'
import { enterpriseControlRevisions } from '../lib/streams/enterprise-control-revisions.ts'
import type { Figure } from './figures.ts'
import { type Installation, type Ran, startInstallation } from './lake-nights.ts'
import { usdOf } from './prices.ts'

const part = 'a year of the default schedules'
const counts = { sessions: 1_500, users: 400, reports: 100, revisions: 40, computers: 12 }
/** As many go as come, and a revision a day. */
const rates = {
  sessions: { changed: 0.05, added: 0.005, removed: 0.005 },
  users: { changed: 0.02, added: 0.003, removed: 0.003 },
  reports: { changed: 0.01, added: 0.01, removed: 0.01 },
  computers: { changed: 0.1, added: 0.05, removed: 0.05 },
  revisions: { added: 0.01 },
}
/** Days that are lived through. What the last of them asked for is what each later one does: nothing that is read grows on. */
const days = 45
const daysCounted = 10
const daysOfYear = 365
const controlsADay = 96
const start = Date.UTC(2026, 0, 1, 2)
const dayMs = 86_400_000

/** What is not counted but taken as given: the start of a function, and how long each kind of call takes at most. */
const assumed = { startSeconds: 1, pageSeconds: 0.2, objectSeconds: 0.02, itemSeconds: 0.008 }
const gigabytes = 1.769
const usdPerInvocation = 2e-7
const usdPerTransition = 2.5e-5
const transitions = { ofStream: 25, ofControls: 10 }
const usdPerMonth = { objectGigabyte: 0.023, itemGigabyte: 0.25 + 0.2 }
const oldVersionDays = 30
const itemBytes = 2_000

/** A day: the first look at the settings finds the new revision, all others find nothing, and the night reads everything. */
type Day = { changed: Ran; idle: Ran; night: Ran }

/** (l) What the default schedules cost a small organization in a year, by the calls of days that were lived through. */
export async function yearOfSchedules(): Promise<Figure[]> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-year-'))
  const platform = await startSimulator({ counts, rates, startedAt: start })
  const time = { day: 0 }
  const began = Date.now()
  const now = () => start + time.day * dayMs + (Date.now() - began)
  const installation = await startInstallation({ dir, platform, now })
  const lived: Day[] = []
  try {
    for (; time.day < days; time.day++) {
      lived.push(await dayOf(installation))
      platform.advance()
    }
    return figuresOf(lived, await bytesKept(installation), installation.streams.length)
  } finally {
    await installation.close()
    await platform.close()
    await rm(dir, { recursive: true, force: true })
  }
}

async function dayOf({ run, streams }: Installation): Promise<Day> {
  const controls = [enterpriseControlRevisions]
  const changed = await run('controls-changed', controls)
  const idle = await run('controls-idle', controls)
  return { changed, idle, night: await run('nightly', streams) }
}

function figuresOf(lived: readonly Day[], keptBytes: number, streams: number): Figure[] {
  const counted = lived.slice(-daysCounted)
  const perDay = (of: (day: Day) => number) => counted.reduce((sum, day) => sum + of(day), 0) / counted.length
  const overRuns = (of: (ran: Ran) => number) =>
    perDay(({ changed, idle, night }) => of(night) + of(changed) + (controlsADay - 1) * of(idle))
  const callsOf = (one: Ran) => Object.values(one.calls).reduce((sum, count) => sum + count, 0)
  const s3 = overRuns((ran) => usdOf(only('S3', ran)))
  const items = overRuns((ran) => usdOf(only('DynamoDB', ran)) + usdOfRecords(ran))
  const lambda = perDay(({ changed, idle, night }) => {
    const controls = usdOfLambda(changed, 1) + (controlsADay - 1) * usdOfLambda(idle, 1)
    return usdOfLambda(night, streams) + controls
  })
  const steps = (transitions.ofStream * streams + transitions.ofControls * controlsADay) * usdPerTransition
  const put = overRuns(({ bytesPut }) => bytesPut)
  const growth = perDay(({ changed, night }) => [...changed.files, ...night.files].reduce((sum, f) => sum + f.bytes, 0))
  const atYearEnd = keptBytes + growth * (daysOfYear - days)
  const objects = ((atYearEnd / 2 + put * oldVersionDays) / 1e9) * usdPerMonth.objectGigabyte * 12
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const kept = objects + ((records * itemBytes) / 1e9) * usdPerMonth.itemGigabyte * 12
  const year = [s3, items, lambda, steps].map((usd) => usd * daysOfYear)
  const all = [...year, kept]
  const names = ['S3, calls', 'DynamoDB, calls', 'Lambda', 'Step Functions', 'storage']
  const figure = (measure: string, value: number, unit: string): Figure => ({ part, measure, value, unit, aim: null })
  return [
    figure(
      'calls of a night',
      perDay(({ night }) => callsOf(night)),
      'calls',
    ),
    figure(
      'calls of a look at the settings that finds nothing',
      perDay(({ idle }) => callsOf(idle)),
      'calls',
    ),
    figure(
      'files of a day',
      perDay(({ changed, night }) => changed.files.length + night.files.length),
      'files',
    ),
    figure('bytes of these', growth, 'bytes'),
    figure('bytes written in a day, of which old versions are kept for a month', put, 'bytes'),
    figure('bytes kept at the end of the year', atYearEnd, 'bytes'),
    ...names.map((name, at) => figure(name, all[at] ?? 0, 'USD')),
    figure(
      'together, without what is fixed',
      all.reduce((sum, usd) => sum + usd, 0),
      'USD',
    ),
  ]
}

/** The calls to one service but for batches, which are priced by their items. */
function only(service: string, { calls }: Ran) {
  return Object.fromEntries(
    Object.entries(calls).filter(([name]) => name.startsWith(service) && !name.includes(' Batch')),
  )
}

function usdOfRecords({ counts: ofStreams }: Ran): number {
  const usd = ofStreams.map(({ inserted, updated, deleted }) => {
    const { writeUnit, readUnit } = listPrices
    return 2 * (inserted + updated + deleted) * writeUnit + (inserted + updated) * readUnit
  })
  return usd.reduce((sum, each) => sum + each, 0)
}

/** An invocation for each stream and one to publish, as if all waits of a run came one after the other. */
function usdOfLambda({ calls, counts: ofStreams, cpuSeconds }: Ran, streams: number): number {
  const waits = Object.entries(calls).map(([name, count]) => {
    return count * (name.startsWith('S3') ? assumed.objectSeconds : assumed.itemSeconds)
  })
  const pages = ofStreams.reduce((sum, { apiCalls }) => sum + apiCalls, 0)
  const invocations = streams + 1
  const seconds =
    cpuSeconds +
    waits.reduce((sum, each) => sum + each, 0) +
    pages * assumed.pageSeconds +
    invocations * assumed.startSeconds
  return seconds * gigabytes * listPrices.gigabyteSecond + invocations * usdPerInvocation
}

async function bytesKept({ objects }: Installation): Promise<number> {
  let bytes = 0
  for (const key of await objects.list('')) bytes += (await objects.get(key))?.byteLength ?? 0
  return bytes
}

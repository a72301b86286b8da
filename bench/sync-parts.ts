import type { Cost } from './bare-loop.ts'
import { type Figure, median } from './figures.ts'
import { usdOf } from './prices.ts'
import { measureSyncs, type Round, type SyncName, syncs } from './syncs.ts'
import type { WorkerAnswer } from './worker.ts'

/** How a part is measured: how often, and whether each sync leaves a profile. */
export type How = { rounds: number; profile: boolean }

/** What each figure of a size should be at most; nothing where it is told for its own sake. */
type Aims = {
  cpu?: Partial<Record<SyncName, number>>
  wall?: Partial<Record<SyncName, number>>
  peak?: Partial<Record<SyncName, number>>
}

const trustedTo = 0.15

/** Syncs of a size at 0 ms: CPU and wall against the bare loop, peak memory, calls to AWS. */
export function atSize(sessions: number, aims: Aims) {
  return async (how: How): Promise<Figure[]> => {
    const rounds = await measureSyncs({ sessions, latencyMs: 0, isGzip: false, ...how })
    const part = `${sessions.toLocaleString('en-US')} sessions`
    const figures = (name: SyncName): Figure[] => [
      ratio(rounds, { part, name, kind: 'cpuSeconds', most: aims.cpu?.[name] }),
      ratio(rounds, { part, name, kind: 'seconds', most: aims.wall?.[name] }),
      { part, measure: `${name}: peak memory`, ...peakOf(rounds, name), aim: aimOf(aims.peak?.[name]) },
      ratio(rounds, { part, name, kind: 'cpuSeconds', most: undefined, phase: 'reading' }),
      { part, measure: `${name}: peak memory of reading alone`, ...peakOf(rounds, name, 'reading'), aim: null },
    ]
    const last = rounds.at(-1) as Round
    return [...noise(part, rounds), ...syncs.flatMap(figures), ...callsOf(part, last.unchanged)]
  }
}

/** Syncs at a latency: what the engine adds to the time that the platform itself takes. */
export async function atLatency(how: How): Promise<Figure[]> {
  const latencyMs = 20
  const rounds = await measureSyncs({ sessions: 100_000, latencyMs, isGzip: true, ...how })
  const part = `100,000 sessions at ${latencyMs} ms, gzip`
  const most: Partial<Record<SyncName, number>> = { first: 1.03, unchanged: 1.03 }
  return [
    ...noise(part, rounds),
    ...syncs.flatMap((name) => [
      ratio(rounds, { part, name, kind: 'seconds', most: most[name] }),
      ratio(rounds, { part, name, kind: 'seconds', most: undefined, phase: 'reading' }),
    ]),
  ]
}

/** All of a sync, or its reading alone: on AWS another function publishes. */
type Phase = 'all' | 'reading'

function costOf(round: Round, name: SyncName, phase: Phase): Cost {
  return phase === 'all' ? round[name] : round[name].reading
}

type Kind = 'cpuSeconds' | 'seconds'
type Ratio = { part: string; name: SyncName; kind: Kind; most: number | undefined; phase?: Phase }

function ratio(rounds: readonly Round[], { part, name, kind, most, phase = 'all' }: Ratio): Figure {
  const value = median(rounds.map((round) => costOf(round, name, phase)[kind] / bareOf(round, kind)))
  const own = median(rounds.map((round) => costOf(round, name, phase)[kind]))
  const bare = median(rounds.map((round) => bareOf(round, kind)))
  const what = `${kind === 'seconds' ? 'wall' : 'CPU'}${phase === 'all' ? '' : ' of reading alone'}`
  const measure = `${name}: ${what} (${own.toFixed(2)} s) against the bare loop (${bare.toFixed(2)} s)`
  return { part, measure, value, unit: 'ratio', aim: aimOf(most) }
}

/** What the bare loop took, before and after. */
export function bareOf({ bare: [before, after] }: Round, kind: Kind): number {
  return (before[kind] + after[kind]) / 2
}

function aimOf(most: number | undefined): Figure['aim'] {
  return most === undefined ? null : { most }
}

function peakOf(rounds: readonly Round[], name: SyncName, phase: Phase = 'all') {
  return { value: median(rounds.map((round) => costOf(round, name, phase).peakMegabytes)), unit: 'MB' }
}

/** How far the bare loop before and the one after lie apart: where it is much, the machine was busy with something else. */
export function noise(part: string, rounds: readonly Round[]): Figure[] {
  const apart = rounds.map(({ bare: [before, after] }) => {
    const [less, more] = [before.cpuSeconds, after.cpuSeconds].sort((a, b) => a - b) as [number, number]
    return more / less - 1
  })
  const worst = Math.max(...apart)
  const verdict = worst > trustedTo ? ': NOT TO BE TRUSTED' : ''
  const measure = `CPU of the bare loop before and after, apart${verdict}`
  return [{ part, measure, value: worst, unit: 'share', aim: { most: trustedTo } }]
}

function callsOf(part: string, { calls, counts }: WorkerAnswer): Figure[] {
  const total = (name: string) =>
    Object.entries(calls).reduce((sum, [each, count]) => (each.startsWith(name) ? sum + count : sum), 0)
  const ofRecords = total('DynamoDB Batch') + total('DynamoDB Scan')
  const [measure, unit] = ['unchanged: ', 'calls']
  return [
    { part, measure: `${measure}calls to the records table`, value: ofRecords, unit, aim: { most: 0 } },
    { part, measure: `${measure}S3`, value: total('S3'), unit, aim: { most: 250 } },
    { part, measure: `${measure}DynamoDB`, value: total('DynamoDB'), unit, aim: { most: 250 } },
    {
      part,
      measure: `${measure}cost per million records`,
      value: (usdOf(calls) / counts.received) * 1e6,
      unit: 'USD',
      aim: null,
    },
  ]
}

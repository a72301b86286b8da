import { mkdir, writeFile } from 'node:fs/promises'
import Table from 'cli-table3'
import { measureBundles } from './bundles.ts'
import { batchMs, limitsTimes } from './limits-part.ts'
import type { LimitsAnswer } from './limits-worker.ts'
import { costPerMillion } from './prices.ts'
import { ask } from './processes.ts'
import { inWorld } from './sync-parts.ts'
import type { VerifierAnswer } from './verifier.ts'
import type { WorkerAnswer } from './worker.ts'

type Figure = { part: string; measure: string; value: number; unit: string; aim: string }

const aims = {
  ratio: 1.05,
  firstPerSecond: 20_000,
  unchangedPerSecond: 40_000,
  peakMegabytes: 400,
  calls: 250,
  limitsRatio: 1.1,
  verifySeconds: 20,
  verifyGrowth: 1.3,
}

const say = (line: string) => process.stderr.write(`${line}\n`)

/** (a) What the engine adds to the time that the platform itself takes. */
const latencyRatio = (): Promise<Figure[]> =>
  inWorld({ sessions: 100_000, latencyMs: 20 }, async ({ sync, bareLoop }) => {
    const bare = await bareLoop()
    const synced = await sync()
    const value = synced.seconds / bare.seconds
    const measure = `sync of ${bare.records} sessions at 20 ms against a bare loop of ${bare.seconds.toFixed(1)} s`
    return [{ part: 'a', measure, value, unit: 'ratio', aim: `<= ${aims.ratio}` }]
  })

/** (b) Records per second of the worker's CPU, (c) its peak memory, (d) its calls to AWS, at one size. */
const atSize = (sessions: number): Promise<Figure[]> =>
  inWorld({ sessions, latencyMs: 0 }, async ({ sync }) => {
    say(`first sync of ${sessions} sessions`)
    const first = await sync()
    say(`unchanged sync of ${sessions} sessions`)
    const unchanged = await sync()
    return [
      ...speeds(sessions, first, unchanged),
      ...memory(sessions, first, unchanged),
      ...callsOf(sessions, unchanged),
    ]
  })

const speeds = (sessions: number, first: WorkerAnswer, unchanged: WorkerAnswer): Figure[] => {
  const perSecond = ({ counts, cpuSeconds }: WorkerAnswer) => counts.received / cpuSeconds
  const unit = 'records per s of CPU'
  return [
    {
      part: 'b',
      measure: `first sync of ${sessions}`,
      value: perSecond(first),
      unit,
      aim: `>= ${aims.firstPerSecond}`,
    },
    {
      part: 'b',
      measure: `unchanged sync of ${sessions}`,
      value: perSecond(unchanged),
      unit,
      aim: `>= ${aims.unchangedPerSecond}`,
    },
  ]
}

const memory = (sessions: number, first: WorkerAnswer, unchanged: WorkerAnswer): Figure[] =>
  (
    [
      ['first', first],
      ['unchanged', unchanged],
    ] as const
  ).map(([name, { peakMegabytes }]) => ({
    part: 'c',
    measure: `peak memory, ${name} sync of ${sessions}`,
    value: peakMegabytes,
    unit: 'MB',
    aim: `<= ${aims.peakMegabytes}`,
  }))

const callsOf = (sessions: number, { calls, counts }: WorkerAnswer): Figure[] => {
  const total = (service: string) =>
    Object.entries(calls).reduce((sum, [name, count]) => (name.startsWith(service) ? sum + count : sum), 0)
  const measure = (service: string) => `${service} calls, unchanged sync of ${sessions}`
  return [
    { part: 'd', measure: measure('S3'), value: total('S3'), unit: 'calls', aim: `<= ${aims.calls}` },
    { part: 'd', measure: measure('DynamoDB'), value: total('DynamoDB'), unit: 'calls', aim: `<= ${aims.calls}` },
    {
      part: 'd',
      measure: `cost of the calls per million records, unchanged sync of ${sessions}`,
      value: costPerMillion(calls, counts.received),
      unit: 'USD',
      aim: '',
    },
  ]
}

/** (e) What setting limits takes, from the first message received, against bare PUTs of a hundred in a row. */
const limitsRatio = async (): Promise<Figure[]> => {
  const { bareSeconds, emulated, quick } = await limitsTimes({ users: 10_000, latencyMs: 20, times: 3 })
  const bare = median(bareSeconds)
  const figure = (name: string, worker: LimitsAnswer[], aim: string): Figure => {
    const seconds = median(worker.map((answer) => answer.seconds))
    const measure = `10,000 limits at 20 ms, ${name}, against ${bareSeconds.length} x 100 bare PUTs of ${bare.toFixed(1)} s`
    return { part: 'e', measure, value: seconds / bare, unit: 'ratio', aim }
  }
  return [
    figure(`DynamoDB's batches answered in ${batchMs} ms`, quick, `<= ${aims.limitsRatio}`),
    figure('ledger in the emulator, which does an item after the other', emulated, ''),
  ]
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

/** (g) How long it takes to verify the audit trail, and whether memory grows with it. */
const verifying = async (): Promise<Figure[]> => {
  const few = await ask<VerifierAnswer>('verify-trail.ts', { entries: 1_000 })
  const many = await ask<VerifierAnswer>('verify-trail.ts', { entries: 10_000 })
  const part = 'g'
  return [
    {
      part,
      measure: 'verify 10000 revisions of 20 KB',
      value: many.seconds,
      unit: 's',
      aim: `< ${aims.verifySeconds}`,
    },
    {
      part,
      measure: `peak memory, 10000 revisions (${many.peakMegabytes.toFixed(0)} MB) against 1000`,
      value: many.peakMegabytes / few.peakMegabytes,
      unit: 'ratio',
      aim: `<= ${aims.verifyGrowth}`,
    },
  ]
}

/** (f) What a cold start loads. */
const bundles = async (): Promise<Figure[]> =>
  (await measureBundles()).flatMap(({ name, bytes, importMs, clientsMs }) => [
    { part: 'f', measure: `size of ${name}`, value: bytes / 1_000_000, unit: 'MB', aim: '<= 1' },
    {
      part: 'f',
      measure: `import of ${name} (${importMs.toFixed(0)} ms of CPU) against its SDK clients alone`,
      value: importMs / clientsMs,
      unit: 'ratio',
      aim: '<= 1.3',
    },
  ])

const figures: Figure[] = []
say('audit trails of 1,000 and 10,000 revisions')
figures.push(...(await verifying()))
say('100,000 sessions at 20 ms latency: bare loop, then sync')
figures.push(...(await latencyRatio()))
for (const sessions of [10_000, 100_000, 1_000_000]) figures.push(...(await atSize(sessions)))
say('10,000 limits at 20 ms latency, three times each way')
figures.push(...(await limitsRatio()))
say('Lambda bundles')
figures.push(...(await bundles()))

const table = new Table({ head: ['part', 'measure', 'value', 'unit', 'aim'], style: { head: [], border: [] } })
for (const { part, measure, value, unit, aim } of figures) {
  table.push([part, measure, value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 3 : 0 }), unit, aim])
}
process.stdout.write(`${table.toString()}\n`)
await mkdir(new URL('results/', import.meta.url), { recursive: true })
await writeFile(new URL('results/latest.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`)

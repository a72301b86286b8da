import { measureBundles } from './bundles.ts'
import { type Figure, median } from './figures.ts'
import { batchMs, limitsTimes } from './limits-part.ts'
import type { LimitsAnswer } from './limits-worker.ts'
import { ask } from './processes.ts'
import type { VerifierAnswer } from './verifier.ts'

/** (e) What setting limits takes, from the first message received, against bare PUTs of a hundred in a row. */
export async function limitsRatio(): Promise<Figure[]> {
  const { bareSeconds, emulated, quick } = await limitsTimes({ users: 10_000, latencyMs: 20, times: 3 })
  const bare = median(bareSeconds)
  const figure = (name: string, worker: LimitsAnswer[], aim: Figure['aim']): Figure => {
    const seconds = median(worker.map((answer) => answer.seconds))
    const measure = `10,000 limits at 20 ms, ${name}, against ${bareSeconds.length} x 100 bare PUTs of ${bare.toFixed(1)} s`
    return { part: 'e', measure, value: seconds / bare, unit: 'ratio', aim }
  }
  return [
    figure(`DynamoDB's batches answered in ${batchMs} ms`, quick, { most: 1.1 }),
    figure('ledger in the emulator, which does an item after the other', emulated, null),
  ]
}

/** (f) What a cold start loads. */
export async function bundles(): Promise<Figure[]> {
  return (await measureBundles()).flatMap(({ name, bytes, importMs, clientsMs }) => {
    const measure = `import of ${name} (${importMs.toFixed(0)} ms of CPU) against its SDK clients alone`
    return [
      { part: 'f', measure: `size of ${name}`, value: bytes / 1_000_000, unit: 'MB', aim: { most: 1 } },
      { part: 'f', measure, value: importMs / clientsMs, unit: 'ratio', aim: { most: 1.3 } },
    ]
  })
}

/** (g) How long it takes to verify the audit trail, and whether memory grows with it. */
export async function verifying(): Promise<Figure[]> {
  const few = await ask<VerifierAnswer>('verify-trail.ts', { entries: 1_000 })
  const many = await ask<VerifierAnswer>('verify-trail.ts', { entries: 10_000 })
  const growth = many.peakMegabytes / few.peakMegabytes
  const measure = `peak memory, 10,000 revisions (${many.peakMegabytes.toFixed(0)} MB) against 1,000`
  return [
    { part: 'g', measure: 'verify 10,000 revisions of 20 KB', value: many.seconds, unit: 's', aim: { most: 20 } },
    { part: 'g', measure, value: growth, unit: 'ratio', aim: { most: 1.3 } },
  ]
}

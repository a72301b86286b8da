import { measureBundles } from './bundles.ts'
import { type Figure, median } from './figures.ts'
import { limitsTimes } from './limits-part.ts'
import { ask } from './processes.ts'
import type { How } from './sync-parts.ts'
import type { VerifierAnswer } from './verifier.ts'

/** What setting limits takes, from the first message received, against bare PUTs of a hundred in a row. */
export async function limitsRatio({ rounds }: How): Promise<Figure[]> {
  const { bareSeconds, worker } = await limitsTimes({ users: 10_000, latencyMs: 20, times: rounds })
  const bare = median(bareSeconds)
  const seconds = median(worker.map((answer) => answer.seconds))
  const measure = `10,000 limits at 20 ms against 100 bare PUTs of ${bare.toFixed(1)} s`
  return [{ part: 'limits', measure, value: seconds / bare, unit: 'ratio', aim: { most: 1.1 } }]
}

const importsPerRound = 5

/** What a cold start loads. */
export async function bundles({ rounds }: How): Promise<Figure[]> {
  return (await measureBundles(importsPerRound * rounds)).flatMap(({ name, bytes, importMs, clientsMs }) => {
    const measure = `import of ${name} (${importMs.toFixed(0)} ms of CPU) against its SDK clients alone`
    return [
      { part: 'bundles', measure: `size of ${name}`, value: bytes / 1_000_000, unit: 'MB', aim: { most: 1 } },
      { part: 'bundles', measure, value: importMs / clientsMs, unit: 'ratio', aim: { most: 1.2 } },
    ]
  })
}

/** How long it takes to verify the audit trail, and whether memory grows with it. */
export async function verifying(): Promise<Figure[]> {
  const few = await ask<VerifierAnswer>('verify-trail.ts', { entries: 1_000 })
  const many = await ask<VerifierAnswer>('verify-trail.ts', { entries: 10_000 })
  const growth = many.peakMegabytes / few.peakMegabytes
  const measure = `peak memory, 10,000 revisions (${many.peakMegabytes.toFixed(0)} MB) against 1,000`
  return [
    { part: 'trail', measure: 'verify 10,000 revisions of 20 KB', value: many.seconds, unit: 's', aim: { most: 20 } },
    { part: 'trail', measure, value: growth, unit: 'ratio', aim: { most: 1.3 } },
  ]
}

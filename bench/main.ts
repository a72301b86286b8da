import { mkdir, writeFile } from 'node:fs/promises'
import { type Figure, isMet, tableOf } from './figures.ts'
import { lakeFiles } from './lake-part.ts'
import { bundles, limitsRatio, verifying } from './others.ts'
import { redacting } from './redaction-part.ts'
import { atSize, latencyRatio } from './syncs.ts'

/** What can be measured, by the letters of the parts that each yields. */
const measurements: readonly { parts: string; what: string; measure: () => Promise<Figure[]> }[] = [
  { parts: 'g', what: 'audit trails of 1,000 and 10,000 revisions', measure: verifying },
  { parts: 'a', what: '100,000 sessions at 20 ms latency: bare loop, then sync', measure: latencyRatio },
  ...[10_000, 100_000, 1_000_000].map((sessions) => ({
    parts: 'bcd',
    what: `${sessions} sessions: first sync, unchanged sync`,
    measure: atSize(sessions),
  })),
  { parts: 'e', what: '10,000 limits at 20 ms latency, three times each way', measure: limitsRatio },
  { parts: 'f', what: 'Lambda bundles', measure: bundles },
  { parts: 'h', what: 'redaction of sessions and texts', measure: redacting },
  { parts: 'i', what: 'files of the lake after 30 nights', measure: lakeFiles },
]

const wanted = process.argv.slice(2)
const figures: Figure[] = []
for (const { parts, what, measure } of measurements) {
  if (wanted.length > 0 && !wanted.some((letter) => parts.includes(letter))) continue
  process.stderr.write(`${what}\n`)
  figures.push(...(await measure()))
}
process.stdout.write(`${tableOf(figures)}\n`)
const results = figures.map((figure) => ({ ...figure, met: isMet(figure) }))
await mkdir(new URL('results/', import.meta.url), { recursive: true })
await writeFile(new URL('results/latest.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`)

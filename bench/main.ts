import { mkdir, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Figure, isMet, tableOf } from './figures.ts'
import { lakeFiles } from './lake-part.ts'
import { messagesAt } from './messages-part.ts'
import { bundles, limitsRatio, verifying } from './others.ts'
import { againstPeers } from './peers-part.ts'
import { redacting } from './redaction-part.ts'
import { reporting } from './report-part.ts'
import { atLatency, atSize, type How } from './sync-parts.ts'
import { yearOfSchedules } from './year-part.ts'

/** What can be measured, by the name of each part. What takes very long is measured only when it is asked for. */
const parts: Record<string, { what: string; measure: (how: How) => Promise<Figure[]>; onlyWhenAsked?: true }> = {
  small: { what: 'syncs of 20,000 sessions', measure: atSize(20_000, {}) },
  sync: {
    what: 'syncs of 100,000 sessions',
    measure: atSize(100_000, { cpu: { first: 3, unchanged: 1.1, changed: 1.8 }, wall: { unchanged: 1.2 } }),
  },
  latency: { what: 'syncs of 100,000 sessions at 20 ms', measure: atLatency },
  large: {
    what: 'syncs of 1,000,000 sessions',
    measure: atSize(1_000_000, { cpu: { unchanged: 0.95 }, peak: { first: 300, unchanged: 250 } }),
  },
  huge: {
    what: 'syncs of 5,000,000 sessions',
    measure: atSize(5_000_000, { peak: { first: 900, unchanged: 900 } }),
    onlyWhenAsked: true,
  },
  messages: {
    what: 'messages of 5,000 sessions',
    measure: messagesAt({ sessions: 5_000, messagesPerSession: 20, atOnce: [1, 4, 16] }),
  },
  'messages-large': {
    what: 'messages of 100,000 sessions',
    measure: messagesAt({ sessions: 100_000, messagesPerSession: 20, atOnce: [16] }),
    onlyWhenAsked: true,
  },
  peers: { what: 'syncs of 100,000 sessions beside other tools', measure: againstPeers, onlyWhenAsked: true },
  limits: { what: '10,000 limits at 20 ms latency', measure: limitsRatio },
  bundles: { what: 'Lambda bundles', measure: bundles },
  redaction: { what: 'redaction of sessions and texts', measure: redacting },
  lake: { what: 'the lake after 30 and 365 nights', measure: lakeFiles },
  year: { what: 'what a year of the default schedules costs', measure: yearOfSchedules },
  report: { what: 'the page of pictures over 1,000,000 sessions', measure: reporting, onlyWhenAsked: true },
  trail: { what: 'audit trails of 1,000 and 10,000 revisions', measure: verifying },
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'boolean', default: false },
  },
})
const only = values.only.split(',').filter((name) => name !== '')
const unknown = only.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`There is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`)

const figures: Figure[] = []
for (const [name, { what, measure, onlyWhenAsked }] of Object.entries(parts)) {
  if (only.length > 0 ? !only.includes(name) : onlyWhenAsked) continue
  process.stderr.write(`${what}\n`)
  figures.push(...(await measure({ rounds: Number(values.rounds), profile: values.profile })))
}
process.stdout.write(`${tableOf(figures)}\n`)
const results = figures.map((figure) => ({ ...figure, met: isMet(figure) }))
await mkdir(new URL('results/', import.meta.url), { recursive: true })
await writeFile(new URL('results/latest.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`)

import { readFileSync } from 'node:fs'
import { createGenerators } from '../lib/local/simulator/generators.ts'
import { settingsOf } from '../lib/local/simulator/options.ts'
import { createRedactor } from '../lib/redaction/redact.ts'
import { sessions } from '../lib/streams/sessions.ts'
import { type Figure, median } from './figures.ts'

const { redact, redactText } = createRedactor('a key of the benchmark')
const part = 'redaction'

/** What redaction costs: a session, a text of the docs, and texts that are made to take long. */
export async function redacting(): Promise<Figure[]> {
  const texts = sessionTexts(2_000)
  const records = texts.map((text) => JSON.parse(text))
  const parsing = microseconds(texts.length, () => texts.map((text) => JSON.parse(text)))
  const redaction = microseconds(records.length, () => records.map((record) => redact(record, sessions)))
  const docs = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8')
  const prose = microseconds(docs.length, () => redactText(docs)) * 1000
  const measure = `redaction of a session (${redaction.toFixed(1)} us) against a bare JSON.parse of it`
  return [
    { part, measure, value: redaction / parsing, unit: 'ratio', aim: { most: 0.5 } },
    { part, measure: 'redaction of docs/operations.md', value: prose, unit: 'ns per character', aim: null },
    ...['token=', 'token="', 'http://', '&', 'Authorization: a ', '{"token":"'].map(growth),
  ]
}

function sessionTexts(count: number): string[] {
  const settings = settingsOf({ counts: { sessions: count } })
  const generator = createGenerators(settings, { times: [1_700_000_000_000] }).sessions
  return Array.from({ length: count }, (_, position) => {
    const life = generator.population.at(position)
    if (life === undefined) throw new Error(`there is no session at ${position}`)
    return JSON.stringify(generator.record(life, generator.idOf(life)))
  })
}

/** How much longer four times the text takes: four times where it is linear, sixteen where it is quadratic. */
function growth(repeated: string): Figure {
  const [short, long] = [50_000, 200_000].map((length) => {
    const text = repeated.repeat(length / repeated.length)
    return microseconds(1, () => redactText(text))
  }) as [number, number]
  return { part, measure: `four times as much of ${repeated}`, value: long / short, unit: 'ratio', aim: { most: 8 } }
}

/** The median of many rounds of CPU time, for one of `count`. */
function microseconds(count: number, round: () => void): number {
  const times = Array.from({ length: 15 }, () => {
    const before = process.cpuUsage()
    round()
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return median(times) / count
}

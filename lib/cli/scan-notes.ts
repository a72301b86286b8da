import type { Counts } from '../sync/checkpoint.ts'
import { number, type Output, plain } from './output.ts'
import type { TimedResult } from './run-sync.ts'

const fieldsShown = 5

/** Says of each stream in which fields values of an unforeseen form came, the most first. */
export function sayInvalid(streams: readonly { stream: string; invalid: Counts['invalid'] }[], io: Output): void {
  for (const { stream, invalid } of streams) {
    const fields = Object.entries(invalid).sort(([, a], [, b]) => b - a)
    if (fields.length === 0) continue
    const shown = fields.slice(0, fieldsShown).map(([field, records]) => `${field} in ${recordsText(records)}`)
    const left = fields.length > shown.length ? ` and ${fields.length - shown.length} more fields` : ''
    io.say(
      plain(`${stream}: ${shown.join(', ')}${left}: an unforeseen form. The rows stay, and _invalid tells what came.`),
    )
  }
}

/** Says of a scan that another run began what it has come to in all: the table shows this run alone. */
export function sayContinued(results: readonly TimedResult[], io: Output): void {
  for (const { stream, counts, ofRun } of results) {
    if (!counts || !ofRun || counts.received === ofRun.received) continue
    const all = `${recordsText(counts.received)} in ${number(counts.apiCalls)} API calls`
    io.say(`${stream}: this run went on with a scan that was begun before. In all it has received ${all}.`)
  }
}

/** Says what was read twice: without that the columns do not add up to what was received. */
export function sayRepeats(results: readonly TimedResult[], io: Output): void {
  for (const { stream, counts, ofRun } of results) {
    const { duplicate = 0 } = ofRun ?? counts ?? {}
    if (duplicate === 0) continue
    const were = duplicate === 1 ? 'record was a repeat' : 'records were repeats'
    io.say(`${stream}: ${number(duplicate)} ${were} of what the same scan had read before.`)
  }
}

function recordsText(records: number): string {
  return `${number(records)} ${records === 1 ? 'record' : 'records'}`
}

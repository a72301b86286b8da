import { behindText } from '../publish/behind.ts'
import type { Notice, StreamStatus } from '../sync/checkpoint.ts'
import { type Head, number, type Output, plain, tableText, widthOf } from './output.ts'
import type { FinishedRun, TimedResult } from './run-sync.ts'
import { sayContinued, sayInvalid, sayRepeats } from './scan-notes.ts'
import { troublesOf } from './troubles.ts'

const colours = {
  complete: 'green',
  paused: 'yellow',
  rate_limited: 'yellow',
  running: 'yellow',
  skipped: 'yellow',
  suspect: 'yellow',
  failed: 'red',
} as const satisfies Record<StreamStatus, string>

/** A status in its colour. */
export function statusText(status: StreamStatus, io: Output): string {
  return io.style(colours[status], status)
}

/** Prints what a run asked and received: a table, or on a narrow terminal a paragraph per stream; then what needs attention. */
export function sayRun({ record, results, seconds, interrupted }: FinishedRun, io: Output): void {
  const table = tableText(
    heads,
    results.map((result) => rowOf(result, io)),
  )
  io.say(widthOf(table) <= io.columns ? table : results.map((result) => paragraphOf(result, io)).join('\n'))
  sayContinued(results, io)
  sayRepeats(results, io)
  sayInvalid(
    results.map(({ stream, counts }) => ({ stream, invalid: counts?.invalid ?? {} })),
    io,
  )
  const troubles = troublesOf(results)
  if (troubles.length > 0) io.say()
  for (const { streams, status, reason } of troubles)
    io.say(`${statusText(status, io)} ${streams.join(', ')}: ${reason}`)
  sayNotices(results, io)
  for (const table of record.behind ?? []) io.say(`${io.style('yellow', 'behind')} ${plain(behindText(table))}`)
  io.say()
  io.say(`Run ${record.runId}: ${record.status}, ${seconds.toFixed(1)} s.`)
  if (interrupted) io.say('Stopped. What was read is kept; the next sync goes on there.')
}

/** A severity in its colour. */
export function severityText(severity: Notice['severity'], io: Output): string {
  return io.style(severity === 'critical' ? 'red' : severity === 'warning' ? 'yellow' : 'dim', severity)
}

const noticesShown = 8

/** Says what deserves attention in what was read, a line each. */
function sayNotices(results: readonly TimedResult[], io: Output): void {
  const all = results.flatMap(({ notices = [] }) => notices)
  if (all.length > 0) io.say()
  for (const { severity, about, message } of all.slice(0, noticesShown)) {
    io.say(`${severityText(severity, io)}  ${plain(`${about}. ${message}`)}`)
  }
  if (all.length > noticesShown)
    io.say('More deserves attention: "platform-sync audit report --out report.html" lists all of it.')
}

/** Gives the same for `--json`. */
export function runJson({ record, results, manifest, seconds, interrupted }: FinishedRun): unknown {
  return {
    runId: record.runId,
    status: record.status,
    seconds,
    interrupted,
    behind: record.behind ?? [],
    streams: results.map(({ retryAfterMs: _wait, runId: _run, ofRun = null, notices = [], ...result }) => ({
      ...result,
      ofRun,
      notices,
    })),
    published: manifest.scans.map(({ stream, scanId, status, records, files }) => ({
      stream,
      scanId,
      status,
      records,
      files: files.map(({ table, key, rows, bytes }) => ({ table, key, rows, bytes })),
    })),
  }
}

const right = true
const heads: readonly Head[] = [
  { title: 'stream' },
  { title: 'status' },
  { title: 'received', right },
  { title: 'new', right },
  { title: 'changed', right },
  { title: 'unchanged', right },
  { title: 'deleted', right },
  { title: 'quarantined', right },
  { title: 'API calls', right },
  { title: 'seconds', right },
]

function rowOf({ stream, status, apiCalls, seconds, ...result }: TimedResult, io: Output): string[] {
  const counts = result.ofRun ?? result.counts
  const cells = counts
    ? [counts.received, counts.inserted, counts.updated, counts.unchanged, counts.deleted].map(number)
    : ['', '', '', '', '']
  const quarantined = counts?.quarantined ?? 0
  const quarantine = quarantined > 0 ? io.style('yellow', number(quarantined)) : counts ? '0' : ''
  return [stream, statusText(status, io), ...cells, quarantine, number(apiCalls), seconds.toFixed(1)]
}

function paragraphOf({ stream, status, apiCalls, seconds, ...result }: TimedResult, io: Output): string {
  const counts = result.ofRun ?? result.counts
  const first = `${stream.padEnd(30)}${statusText(status, io)}, ${callsText(apiCalls)}, ${seconds.toFixed(1)} s`
  if (!counts) return first
  const { received, inserted, updated, unchanged, deleted, quarantined } = counts
  const parts = `${number(inserted)} new, ${number(updated)} changed, ${number(unchanged)} unchanged`
  const rest = `${number(deleted)} deleted${quarantined > 0 ? `, ${number(quarantined)} quarantined` : ''}`
  return `${first}\n  ${number(received)} received: ${parts}; ${rest}`
}

function callsText(calls: number): string {
  return `${number(calls)} API call${calls === 1 ? '' : 's'}`
}

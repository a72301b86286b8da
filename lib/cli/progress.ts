import { MultiBar, Presets } from 'cli-progress'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Log, LogFields } from '../core/log.ts'
import { duration } from '../report/words.ts'
import type { StreamResult } from '../sync/context.ts'
import { number, type Terminal, timeOfDay } from './output.ts'
import { createPaces, type Expected, type Pace, paceText } from './pace.ts'

/** The progress of work that takes a while. On stderr: bars on a terminal, lines elsewhere, and events for `--json`. */
export type Progress = {
  /** A stream begins. */
  begin(stream: string, expected: Expected): void
  /** Records came in. */
  add(stream: string, records: number): void
  end(result: StreamResult): void
  /** A line that stays. */
  line(text: string): void
  stop(): void
}

/** Bars on a terminal, a line now and then elsewhere, and with `json` an event per line. */
export function createProgress({ stderr, clock, json }: Showing & { json: boolean }): Progress {
  if (json) return events({ stderr, clock })
  return stderr.isTTY ? bars({ stderr, clock }) : lines({ stderr, clock })
}

type Showing = { stderr: Terminal; clock: Pick<Clock, 'now'> }

const lineEveryMs = 10_000
const eventEveryMs = 1_000

function lines({ stderr, clock }: Showing): Progress {
  const line = (text: string) => void stderr.write(`${text}\n`)
  const tell = (stream: string, pace: Pace) => line(`${stream}: ${paceText(pace)}`)
  return {
    ...nowAndThen({ clock, everyMs: lineEveryMs, tell }),
    end: ({ stream, status, counts }) => line(`${stream}: ${status}, ${number(counts?.received ?? 0)} records read`),
    line,
    stop: () => {},
  }
}

/** The same as JSON, a document per line (NDJSON), for programs that show it in their own way. */
function events({ stderr, clock }: Showing): Progress {
  const write = (event: object) => void stderr.write(`${JSON.stringify(event)}\n`)
  const tell = (stream: string, pace: Pace) => write({ event: 'progress', stream, ...pace })
  return {
    ...nowAndThen({ clock, everyMs: eventEveryMs, tell }),
    end: ({ stream, status, counts }) => write({ event: 'end', stream, status, records: counts?.received ?? 0 }),
    line: (message) => write({ event: 'note', message }),
    stop: () => {},
  }
}

type Telling = { clock: Pick<Clock, 'now'>; everyMs: number; tell: (stream: string, pace: Pace) => void }

/** Tells how far a stream is when it was not told for so long. */
function nowAndThen({ clock, everyMs, tell }: Telling): Pick<Progress, 'begin' | 'add'> {
  const paces = createPaces(clock)
  const toldAt = new Map<string, number>()
  return {
    begin: (stream, expected) => {
      paces.begin(stream, expected)
      if (!toldAt.has(stream)) toldAt.set(stream, clock.now())
    },
    add: (stream, records) => {
      const pace = paces.add(stream, records)
      const now = clock.now()
      if (now - (toldAt.get(stream) ?? 0) < everyMs) return
      toldAt.set(stream, now)
      tell(stream, pace)
    },
  }
}

const nameWidth = 28

function bars({ stderr, clock }: Showing): Progress {
  const options = {
    stream: stderr as NodeJS.WritableStream,
    format: '{name} {bar} {done} {note}',
    ...{ barsize: 20, hideCursor: true, clearOnComplete: true, linewrap: false, fps: 12 },
  }
  const multi = new MultiBar(options, Presets.rect)
  const paces = createPaces(clock)
  const created = new Map<string, ReturnType<MultiBar['create']>>()
  return {
    begin: (stream, expected) => {
      if (created.has(stream)) return
      paces.begin(stream, expected)
      const payload = { name: stream.padEnd(nameWidth), done: number(expected.before), note: '' }
      created.set(stream, multi.create(expected.records ?? 1, expected.before, payload))
    },
    add: (stream, records) => {
      const bar = created.get(stream)
      if (!bar) return
      const pace = paces.add(stream, records)
      // Without a last time to compare with, the bar stays half way until the end.
      bar.setTotal(pace.expected ? Math.max(pace.expected, pace.records) : pace.records * 2)
      bar.update(pace.records, { done: number(pace.records), note: paceNote(pace) })
    },
    end: ({ stream, status }) => {
      const read = Math.max(1, paces.of(stream)?.records ?? 0)
      created.get(stream)?.setTotal(read)
      created.get(stream)?.update(read, { note: status })
    },
    line: (text) => multi.log(`${text}\n`),
    stop: () => multi.stop(),
  }
}

/** What stands behind a bar, which shows the rest. */
function paceNote({ perSecond, seconds, secondsLeft }: Pace): string {
  const left = secondsLeft === null ? '' : `, about ${duration(secondsLeft * 1000)} left`
  return `${number(Math.round(perSecond))}/s, ${duration(seconds * 1000)}${left}`
}

/** Whoever shows lines while bars may be on the terminal takes over from stderr. */
export type Lines = { line(text: string): void }

/** A log whose warnings and errors become lines, as do waits that a person would notice; with `verbose` everything does. */
export function createLog(to: Lines, { verbose, clock }: { verbose: boolean; clock: Pick<Clock, 'now'> }): Log {
  const told = new Set<string>()
  const text = (fields: LogFields = {}) =>
    Object.entries(fields)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('')
  const write = (level: string) => (message: string, fields?: LogFields) =>
    to.line(`${level}: ${message}${text(fields)}`)
  // One cause, such as a disk that is full, meets every stream: it is told once.
  const writeOnce =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      const { reason } = fields
      if (!verbose && typeof reason === 'string' && told.has(reason)) return
      if (typeof reason === 'string') told.add(reason)
      write(level)(message, fields)
    }
  return {
    debug: verbose ? write('debug') : () => {},
    info: verbose ? write('info') : (_message, fields) => sayWait(to, clock.now(), fields),
    warn: writeOnce('warning'),
    error: writeOnce('error'),
  }
}

function sayWait(to: Lines, now: number, { request, code, waitMs }: LogFields = {}): void {
  if (typeof waitMs !== 'number' || waitMs < 1_000) return
  const why = code === 'rate_limited' ? 'rate limited' : String(code)
  to.line(`${request}: ${why}, tries again at ${timeOfDay(now + waitMs, now)} (in ${duration(waitMs)})`)
}

/** The stack of a bug, for the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : messageOf(error)
}

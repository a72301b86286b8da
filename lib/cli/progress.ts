import { MultiBar, Presets } from 'cli-progress'
import { messageOf } from '../core/errors.ts'
import type { Log, LogFields } from '../core/log.ts'
import type { StreamResult } from '../sync/context.ts'
import { number, type Terminal } from './output.ts'

/** The progress of work that takes a while, as a person sees it: bars on a terminal, lines elsewhere. On stderr. */
export type Progress = {
  /** A stream begins; `expected` is how many records it had the last time, if known. */
  begin(stream: string, expected: number | null): void
  /** Records came in. */
  add(stream: string, records: number): void
  end(result: StreamResult): void
  /** A line that stays. */
  line(text: string): void
  stop(): void
}

/** Bars on a terminal, and plain lines elsewhere. */
export function createProgress(stderr: Terminal): Progress {
  return stderr.isTTY ? bars(stderr) : lines(stderr)
}

function lines(stderr: Terminal): Progress {
  const line = (text: string) => void stderr.write(`${text}\n`)
  const received = new Map<string, number>()
  return {
    begin: () => {},
    add: (stream, records) => {
      const before = received.get(stream) ?? 0
      received.set(stream, before + records)
      if (Math.floor((before + records) / 10_000) > Math.floor(before / 10_000)) {
        line(`${stream}: ${number(before + records)} records read`)
      }
    },
    end: ({ stream, status, counts }) => line(`${stream}: ${status}, ${number(counts?.received ?? 0)} records read`),
    line,
    stop: () => {},
  }
}

const nameWidth = 28

function bars(stderr: Terminal): Progress {
  const options = {
    stream: stderr as NodeJS.WritableStream,
    format: `{name} {bar} {done} {note}`,
    barsize: 20,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
    fps: 12,
  }
  const multi = new MultiBar(options, Presets.rect)
  const created = new Map<string, { bar: ReturnType<MultiBar['create']>; received: number; expected: number }>()
  return {
    begin: (stream, expected) => {
      if (created.has(stream)) return
      const payload = { name: stream.padEnd(nameWidth), done: '0', note: '' }
      created.set(stream, { bar: multi.create(expected ?? 1, 0, payload), received: 0, expected: expected ?? 0 })
    },
    add: (stream, records) => {
      const shown = created.get(stream)
      if (!shown) return
      shown.received += records
      // Without a last time to compare with, the bar stays half way until the end.
      const total = shown.expected > 0 ? Math.max(shown.expected, shown.received) : shown.received * 2
      shown.bar.setTotal(total)
      shown.bar.update(shown.received, { done: number(shown.received) })
    },
    end: ({ stream, status }) => {
      const shown = created.get(stream)
      shown?.bar.setTotal(Math.max(1, shown.received))
      shown?.bar.update(Math.max(1, shown.received), { note: status })
    },
    line: (text) => multi.log(`${text}\n`),
    stop: () => multi.stop(),
  }
}

/** Whoever shows lines while bars may be on the terminal takes over from stderr. */
export type Lines = { line(text: string): void }

/** A log whose warnings and errors become lines, as do waits that a person would notice; with `verbose` everything does. */
export function createLog(to: Lines, { verbose }: { verbose: boolean }): Log {
  const text = (fields: LogFields = {}) =>
    Object.entries(fields)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('')
  const write = (level: string) => (message: string, fields?: LogFields) =>
    to.line(`${level}: ${message}${text(fields)}`)
  return {
    debug: verbose ? write('debug') : () => {},
    info: verbose ? write('info') : (_message, fields) => sayWait(to, fields),
    warn: write('warning'),
    error: write('error'),
  }
}

function sayWait(to: Lines, { request, code, waitMs }: LogFields = {}): void {
  if (typeof waitMs !== 'number' || waitMs < 1_000) return
  const why = code === 'rate_limited' ? 'rate limited' : String(code)
  to.line(`${request}: ${why}, tries again in ${Math.ceil(waitMs / 1000)} s`)
}

/** The stack of a bug, for the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : messageOf(error)
}

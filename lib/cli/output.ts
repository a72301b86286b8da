import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import Table from 'cli-table3'

/** A stream that may be a terminal. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number }
type Style = Parameters<typeof styleText>[0]

/** The place of a command's words: results to stdout, everything else to stderr. */
export type Output = {
  /** One JSON document instead of words. */
  readonly json: boolean
  /** Whether a person reads the result as it comes. */
  readonly isTerminal: boolean
  /** Characters per line of the terminal; wide when it is none. */
  readonly columns: number
  /** A line of the result, for people: silent with `--json`. */
  say(text?: string): void
  /** The result as JSON: silent without `--json`. */
  result(value: unknown): void
  /** Text as it is, on stdout. */
  write(text: string): void
  /** A line beside the result. */
  note(text: string): void
  /** Colours a text of the result, on a terminal and unless NO_COLOR says no. */
  style(style: Style, text: string): string
}

/** An output over the two streams of a process. */
export function createOutput(streams: { stdout: Terminal; stderr: Terminal; json: boolean }): Output {
  const { stdout, stderr, json } = streams
  return {
    json,
    isTerminal: stdout.isTTY === true,
    columns: stdout.isTTY ? (stdout.columns ?? 80) : 160,
    say: (text = '') => {
      if (!json) stdout.write(`${text}\n`)
    },
    result: (value) => {
      if (json) stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    },
    write: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout }),
  }
}

/** A column of a table: its head, and whether its cells are numbers. */
export type Head = { title: string; right?: boolean }

/** A table without frame: head, rule, rows. */
export function tableText(heads: readonly Head[], rows: readonly (readonly string[])[]): string {
  const none = Object.fromEntries(frame.map((part) => [part, '']))
  const table = new Table({
    head: heads.map(({ title }) => title),
    colAligns: heads.map(({ right }) => (right ? 'right' : 'left')),
    chars: { ...none, 'top-mid': '', mid: '─', 'mid-mid': '──', 'left-mid': '', 'right-mid': '', middle: '  ' },
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const frame = ['top', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'right']

/** A text without its colours. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours begin with
  return text.replaceAll(/\u001b\[[0-9;]*m/g, '')
}

/** Text from the platform must not steer a terminal, nor end a line. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not get through
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd')
}

/** Counts the characters of a text's longest line. */
export function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => visible(line).length))
}

/** 12345 as 12,345. */
export function number(value: number): string {
  return value.toLocaleString('en-US')
}

/** A time in UTC, to the second. */
export function time(unixMs: number): string {
  return `${new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const dayMs = 86_400_000

/** When something goes on: the time of day in UTC, with the day when it is another one than that of `now`. */
export function timeOfDay(unixMs: number, now: number): string {
  const isToday = Math.floor(unixMs / dayMs) === Math.floor(now / dayMs)
  return isToday ? time(unixMs).slice(11) : time(unixMs)
}

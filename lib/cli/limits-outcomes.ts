import { identityOf } from '../limits/email.ts'
import { isFailure } from '../limits/outcomes/outcome.ts'
import type { LedgerReader } from '../limits/ports.ts'
import { type LimitOutcome, type OutcomeName, outcomeNames } from '../streams/limit-outcome.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output, tableText, widthOf } from './output.ts'

/** The number of entries per outcome; `waiting` have none yet. */
export type Tally = Record<OutcomeName, number> & { waiting: number }

/** Counts outcomes among the entries that were sent. */
export function tallyOf(outcomes: readonly LimitOutcome[], sent: number): Tally {
  const tally: Tally = { applied: 0, rejected: 0, invalid: 0, superseded: 0, unaccounted: 0, waiting: 0 }
  for (const { outcome } of outcomes) tally[outcome] += 1
  return { ...tally, waiting: sent - outcomes.length }
}

/** The exit code: 0 when every entry was applied, 1 when none was, 3 in between. */
export function exitCodeOfTally({ applied, ...others }: Tally): ExitCode {
  if (Object.values(others).every((count) => count === 0)) return exitCodes.complete
  return applied > 0 ? exitCodes.partly : exitCodes.failed
}

/** The colour of each outcome. */
export const outcomeColours = {
  applied: 'green',
  rejected: 'red',
  invalid: 'red',
  superseded: 'yellow',
  unaccounted: 'red',
} as const satisfies Record<OutcomeName, string>

/** Shows outcomes in numbers, and those that somebody should look at. */
export function sayTally(outcomes: readonly LimitOutcome[], { tally, io }: { tally: Tally; io: Output }): void {
  const names = [...outcomeNames, 'waiting' as const].filter((name) => name === 'applied' || tally[name] > 0)
  io.say(
    tableText(
      [{ title: 'outcome' }, { title: 'entries', right: true }],
      names.map((name) => [name === 'waiting' ? name : io.style(outcomeColours[name], name), number(tally[name])]),
    ),
  )
  const failed = outcomes
    .filter(({ outcome }) => isFailure(outcome))
    .sort((a, b) => (a.requestId === b.requestId ? a.index - b.index : a.requestId < b.requestId ? -1 : 1))
  if (failed.length === 0) return
  io.say()
  sayOutcomes(failed, { io, most: 20 })
}

/** Shows outcomes as a table; a narrow terminal gets the columns that say most. */
export function sayOutcomes(outcomes: readonly LimitOutcome[], { io, most }: { io: Output; most: number }): void {
  const shown = outcomes.slice(0, most)
  const tableOf = (some: typeof columns) =>
    tableText(
      some.map(({ title, right }) => ({ title, right: right === true })),
      shown.map((outcome) => some.map(({ cell }) => cell(outcome, io))),
    )
  const table = tableOf(columns)
  io.say(
    widthOf(table) <= io.columns
      ? table
      : tableOf(columns.filter(({ title }) => title !== 'recorded' && title !== 'by')),
  )
  if (outcomes.length > most) io.say(`... and ${number(outcomes.length - most)} more (--json shows all)`)
}

type OutcomeColumn = { title: string; right?: boolean; cell: (outcome: LimitOutcome, io: Output) => string }

const columns: readonly OutcomeColumn[] = [
  { title: 'recorded', cell: ({ recordedAt }) => `${recordedAt.slice(0, 19)}Z` },
  { title: 'email', cell: ({ address }) => address },
  { title: 'before', right: true, cell: ({ previousLimit }) => (previousLimit === null ? '' : number(previousLimit)) },
  { title: 'asked', right: true, cell: ({ limit }) => (limit === null ? '' : number(limit)) },
  { title: 'outcome', cell: ({ outcome }, io) => io.style(outcomeColours[outcome], outcome) },
  { title: 'by', cell: ({ requestedBy }) => requestedBy },
  { title: 'reason', cell: ({ reason }) => reason ?? '' },
]

/** The choice of outcomes to show. */
export type OutcomeOptions = { failed?: boolean; email?: string; since?: string }

const weekMs = 7 * 86_400_000

/** Finds the outcomes that were asked for, newest first. */
export async function findOutcomes(
  { failed, email }: OutcomeOptions,
  { reader, since, now }: { reader: LedgerReader; since: number | undefined; now: number },
): Promise<LimitOutcome[]> {
  if (email !== undefined) {
    const all = await reader.outcomesOf(identityOf(email))
    return all.filter(
      ({ outcome, recordedAt }) =>
        (!failed || isFailure(outcome)) && (since === undefined || Date.parse(recordedAt) >= since),
    )
  }
  const found: LimitOutcome[] = []
  const read = failed ? reader.failedBetween : reader.outcomesBetween
  for await (const outcome of read(since ?? now - weekMs, now + 1)) found.push(outcome)
  return found.sort((a, b) => (a.recordedAt < b.recordedAt ? 1 : a.recordedAt > b.recordedAt ? -1 : 0))
}

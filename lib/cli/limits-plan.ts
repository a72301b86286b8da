import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { SavedPlan } from './limits-saved-plans.ts'
import { number, type Output, tableText } from './output.ts'

function limitText(limit: number | null): string {
  return limit === null ? '?' : number(limit)
}

/** The number of rows that are shown of each kind. */
export const shownRows = 12

/** Shows what a plan would do, row by row; of each kind the first ones. */
export function sayPlan({ plan, ...known }: SavedPlan, { io, most }: { io: Output; most: number }): void {
  const { changes, same, repeated, invalid, conflicts, unknown } = plan
  const fresh = changes.filter(({ kind }) => kind === 'new')
  const changed = changes.filter(({ kind }) => kind === 'changed')
  const conflicting = conflicts.reduce((sum, { lines }) => sum + lines.length, 0)
  const counts = {
    rows: changes.length + same.length + repeated.length + invalid.length + conflicting,
    ...{ new: fresh.length, changed: changed.length, same: same.length, repeated: repeated.length },
    ...{ invalid: invalid.length, conflicting, 'unknown users': unknown.length },
  }
  io.say(
    tableText(
      Object.keys(counts).map((title) => ({ title, right: true })),
      [Object.values(counts).map(number)],
    ),
  )
  const list = (title: string, lines: readonly string[]) => sayList(title, lines, { io, most })
  list(
    'New',
    fresh.map(({ line, email, limit }) => `line ${line}: ${email} -> ${number(limit)}`),
  )
  list(
    'Changed',
    changed.map(({ line, email, from, limit }) => `line ${line}: ${email} ${limitText(from)} -> ${number(limit)}`),
  )
  list(
    'Invalid, not sent',
    invalid.map(({ line, reason, text }) => `line ${line}: ${reason}: ${text}`),
  )
  list(
    'Conflicting, not sent',
    conflicts.map(
      ({ lines, email, limits }) => `lines ${lines.join(', ')}: ${email} -> ${limits.map(number).join(', ')}`,
    ),
  )
  list(
    'Unknown to the last sync of the users, sent all the same',
    unknown.map(({ line, email }) => `line ${line}: ${email}`),
  )
  sayNotes(known, io)
  if (plan.refusals.length > 0) io.say()
  for (const refusal of plan.refusals) io.say(`${io.style('red', 'refused')} ${refusal} Nothing of it may be applied.`)
}

function sayNotes({ knowsUsers, unfinished, setBack, notes }: Omit<SavedPlan, 'plan'>, io: Output): void {
  if (notes.length > 0) io.say()
  for (const note of notes) io.say(note)
  if (setBack > 0) {
    io.say(
      `\nA policy is in force. Of the changes ${number(setBack)} name no time until when they stand (a column until, or --until),`,
    )
    io.say('so that tonight the policy sets them back to what it says.')
  }
  if (!knowsUsers) io.say('\nThe users were not synced, so the plan can not tell which addresses are unknown.')
  if (unfinished === 0) return
  io.say(`\nEarlier requests are not finished (${number(unfinished)} on the queue or among the dead letters).`)
  io.say('So limits that stand already are sent, too: they come after those requests.')
}

function nothingToApply({ same, invalid, conflicts }: SavedPlan['plan']): string {
  if (invalid.length + conflicts.length === 0) return 'Nothing to change.'
  if (same.length === 0) return 'No row is valid, so there is nothing to apply. Correct the file and plan it again.'
  return 'Nothing to change among the valid rows. Correct the others and plan the file again.'
}

/** Says how to go on with a plan. */
export function sayNext({ plan, path }: SavedPlan, io: Output): void {
  if (plan.refusals.length > 0) return
  io.say()
  if (plan.changes.length === 0) io.say(nothingToApply(plan))
  else io.say(`Plan ${io.style('bold', plan.id)} is saved in ${path}. Apply it: platform-sync limits apply ${plan.id}`)
}

function sayList(title: string, lines: readonly string[], { io, most }: { io: Output; most: number }): void {
  if (lines.length === 0 || most === 0) return
  const some = lines.slice(0, most)
  io.say(`\n${title} (${number(lines.length)})`)
  for (const line of some) io.say(`  ${line}`)
  if (some.length < lines.length) io.say(`  ... and ${number(lines.length - some.length)} more (--all shows them)`)
}

/** The exit code: 0 when every row can be applied or stands already, 3 when only some, 1 when the plan may not be applied. */
export function exitCodeOfPlan({ plan }: SavedPlan): ExitCode {
  if (plan.refusals.length > 0) return exitCodes.failed
  if (plan.invalid.length + plan.conflicts.length === 0) return exitCodes.complete
  return plan.changes.length + plan.same.length > 0 ? exitCodes.partly : exitCodes.failed
}

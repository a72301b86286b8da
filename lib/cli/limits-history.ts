import { FatalError } from '../core/errors.ts'
import { readEmail } from '../limits/email.ts'
import type { LimitState } from '../limits/limit-state.ts'
import { accountOf } from '../limits/outcomes/account.ts'
import type { LedgerReader } from '../limits/ports.ts'
import type { LimitOutcome } from '../streams/limit-outcome.ts'
import { outcomeColours } from './limits-outcomes.ts'
import { number, type Output, plain, time } from './output.ts'

/** What the ledger knows of one person. `more`: there are older outcomes than those that were asked for. */
export type LimitHistory = { email: string; state: LimitState | null; outcomes: LimitOutcome[]; more: boolean }

/** Reads the state of an address and its newest outcomes. @throws FatalError `usage` when it is no address. */
export async function findHistory(
  address: string,
  { reader, most }: { reader: Pick<LedgerReader, 'statesWithPending' | 'outcomesOf'>; most: number },
): Promise<LimitHistory> {
  const email = readEmail(address)
  if ('reason' in email) throw new FatalError(`"${plain(address)}" is refused: ${email.reason}.`, { code: 'usage' })
  const { identity } = email
  const [states, found] = await Promise.all([
    reader.statesWithPending([identity]),
    reader.outcomesOf(identity, most + 1),
  ])
  const outcomes = found.slice(0, most)
  return { email: identity, state: states.get(identity) ?? null, outcomes, more: found.length > most }
}

/** Shows what somebody has, and then each request for them, newest first. */
export function sayHistory({ email, state, outcomes, more }: LimitHistory, io: Output): void {
  io.say(plain(`${email}: ${standing(state)}`))
  for (const outcome of outcomes) {
    const { outcome: name, previousLimit, limit, reason } = outcome
    const change = `${limitText(previousLimit)} -> ${limitText(limit)}`
    io.say(`\n${time(Date.parse(outcome.recordedAt))}  ${change}  ${io.style(outcomeColours[name], name)}`)
    io.say(plain(`  ${accountOf(outcome)}`))
    if (reason !== null) io.say(plain(`  ${name === 'rejected' ? 'the platform said: ' : ''}${reason}`))
  }
  if (more) io.say(`\nThere are older ones. "--most ${outcomes.length * 10}" shows more of them.`)
}

function standing(state: LimitState | null): string {
  if (!state) return 'the ledger knows no limit of this address'
  const { status, certain, limit, wanted, changedAt } = state
  if (certain && limit !== null) {
    return `${number(limit)}${status === 'applied' ? ` since ${time(Date.parse(changedAt))}` : '; the newest request was refused'}`
  }
  if (status === 'pending') return `${number(wanted)} is on its way to the platform`
  if (status === 'rejected') return 'the platform refused what was asked for, and nothing was set before'
  return 'what limit this address has is not certain. Plan one, so that it is sent'
}

function limitText(limit: number | null): string {
  return limit === null ? '?' : number(limit)
}

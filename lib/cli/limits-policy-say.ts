import type { Contested, Evaluation } from '../limits/policy/evaluate.ts'
import type { KeptPolicy } from '../limits/policy/keep-policy.ts'
import type { KeptPlan } from '../limits/policy/memory.ts'
import type { NoPolicy } from '../limits/policy/plan-policy.ts'
import type { PolicyFault } from '../limits/policy/read-policy.ts'
import { groupsOf, type PolicyUser, type Rules, unmetBy } from '../limits/policy/rules.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { sayPlan } from './limits-plan.ts'
import { number, type Output, tableText } from './output.ts'

/** Shows every mistake of a policy where an editor finds it. */
export function sayFaults(faults: readonly PolicyFault[], io: Output): void {
  for (const { file, line, column, message } of faults) io.say(`${file}:${line}:${column}: ${message}`)
  io.say(
    `\n${io.style('red', 'refused')} ${number(faults.length)} mistake${faults.length === 1 ? '' : 's'}. The policy changes nothing.`,
  )
}

/** Shows of whom a policy says two things; with `most` only so many. */
export function sayContested(contested: readonly Contested[], io: Output, most = 20): void {
  for (const { address, rules } of contested.slice(0, most))
    io.say(`${address}: ${rules.join(' and ')} say different things`)
  if (contested.length > most)
    io.say(`... and ${number(contested.length - most)} more ("limits policy check --all" shows them)`)
  io.say(`\n${io.style('red', 'refused')} Give one of the groups a higher priority. The policy changes nothing.`)
}

/** Shows who gets what under a policy: in numbers, who is in no group and in two; with `most` rows of each. */
export function sayEvaluation(
  { decisions }: Evaluation,
  { io, users, rules, most }: { io: Output; users: readonly PolicyUser[]; rules: Rules; most: number },
): void {
  const byRule = [...Map.groupBy(decisions, ({ rule, limit }) => `${rule}\n${limit ?? 'as it is'}`)].toSorted()
  io.say(
    tableText(
      [{ title: 'rule' }, { title: 'limit', right: true }, { title: 'people', right: true }],
      byRule.map(([key, some]) => [...key.split('\n'), number(some.length)]),
    ),
  )
  const several = users
    .map((user) => ({ user, groups: groupsOf(user, rules) }))
    .filter(({ groups }) => groups.length > 1)
  sayPeople(
    'In two groups or more',
    several.map(({ user, groups }) => `${user.address}: ${groups.map(({ name }) => name).join(', ')}`),
    { io, most },
  )
  const unmet = unmetBy(users, rules)
  sayPeople('Groups without a member', unmet.groups, { io, most })
  sayPeople('Named by the policy, and no user', unmet.addresses, { io, most })
  const unnamed = decisions.filter(({ rule }) => rule === 'default').map(({ address }) => address)
  sayPeople('Named by no rule but the default', unnamed, { io, most })
  const held = decisions.flatMap(({ address, heldUntil }) =>
    heldUntil === null ? [] : [`${address} until ${heldUntil}`],
  )
  sayPeople('Made by hand, and left alone', held, { io, most })
}

function sayPeople(title: string, lines: readonly string[], { io, most }: { io: Output; most: number }): void {
  if (lines.length === 0) return
  io.say(`\n${title} (${number(lines.length)})`)
  for (const line of lines.slice(0, most)) io.say(`  ${line}`)
  if (lines.length > most) io.say(`  ... and ${number(lines.length - most)} more (--all shows them)`)
}

/** Shows why somebody gets what they get. */
export function sayExplanation(identity: string, { decisions, contested }: Evaluation, io: Output): ExitCode {
  const found = decisions.find((decision) => decision.identity === identity)
  const doubt = contested.find(({ address }) => address.toLowerCase() === identity)
  if (doubt) sayContested([doubt], io)
  else if (!found) io.say(`${identity} is no user of the organization, so that the policy says nothing of them.`)
  else {
    const { address, limit, rule, line, why, heldUntil } = found
    io.say(`${address} gets ${limit === null ? 'what they have' : number(limit)}, by ${rule} (line ${line}): ${why}.`)
    if (heldUntil !== null) io.say(`A limit made by hand stands until ${heldUntil}; the policy waits.`)
  }
  return found ? exitCodes.complete : exitCodes.failed
}

/** Says why a policy changes nothing. */
export function sayNoPolicy(none: NoPolicy, io: Output): ExitCode {
  if (none.status === 'invalid') sayFaults(none.faults, io)
  else if (none.status === 'contested') sayContested(none.contested, io)
  else if (none.status === 'unusable')
    io.say(`${io.style('red', 'refused')} ${none.reason} The policy changes nothing.`)
  else io.say('There is no policy: name its file, or put it into the inbox bucket as policy/policy.yaml.')
  return none.status === 'no_policy' ? exitCodes.usage : exitCodes.failed
}

/** Shows a plan of a policy, and why it is outside of the guard. */
export function sayKeptPlan({ plan, status, reasons }: KeptPlan, { io, most }: { io: Output; most: number }): void {
  sayPlan({ plan, path: '', knowsUsers: true, unfinished: 0, setBack: 0, notes: [] }, { io, most })
  if (status === 'queued' || plan.refusals.length > 0) return
  io.say()
  for (const reason of reasons) io.say(`${io.style('yellow', 'outside of the guard')} ${reason}`)
  if (status === 'refused')
    io.say(`${io.style('red', 'refused')} guard.approval is never. Nothing of it may be applied.`)
}

/** Says how a plan that waits is approved. The policy's file is part of it: a plan is checked against it once more. */
export function sayWaits({ plan }: KeptPlan, path: string | undefined, io: Output): void {
  const policy = path === undefined ? '' : ` --policy ${path}`
  io.say(`The plan waits. Approve it: platform-sync limits approve ${plan.id}${policy}`)
}

/** Says how to go on with a plan that was only looked at. */
export function sayNextOfPolicy({ status }: KeptPlan, path: string | undefined, io: Output): void {
  const command = `platform-sync limits policy apply${path === undefined ? '' : ` ${path}`}`
  if (status === 'queued') io.say(`\nIt is within the guard. Apply it: ${command}`)
  if (status === 'waiting') io.say(`Nothing waits yet. This lets it wait for an approval: ${command}`)
}

/** Says that nothing is to be done, or can be done now; null for what there is more to say of. */
export function sayIdle(kept: KeptPolicy, io: Output): ExitCode | null {
  if (kept.status === 'settled' || kept.status === 'nothing') {
    io.say('Everybody has what the policy says.')
    return exitCodes.complete
  }
  if (kept.status !== 'busy') return null
  io.say(
    `${number(kept.messages)} messages are on the queue. Try again when they are done: they may be newer than the policy.`,
  )
  return exitCodes.failed
}

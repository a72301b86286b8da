import { type Answer, type Call, failure, json } from '../answer.ts'
import type { ParsedRule } from './rule.ts'

type Entry = { email: string; limit: number }
type Result = { updated: Entry[]; errors: { email: string; error: string }[] }

/**
 * Carries out a request for credit limits under a rule: some addresses are taken out of it before the platform sees it,
 * and then fail, are forgotten, or sink the whole group.
 */
export function setLimitsUnder(rule: ParsedRule, call: Call, next: (call: Call) => Answer): Answer {
  if (rule.kind !== 'limitsErrors' && rule.kind !== 'limitsOmit' && rule.kind !== 'limitsReject') return next(call)
  const users = usersOf(call)
  const names = rule.emails?.map((email) => email.toLowerCase())
  const struck = users.filter(({ email }) => !names || names.includes(String(email).toLowerCase()))
  if (struck.length === 0) return next(call)
  if (rule.kind === 'limitsReject') {
    return failure(400, 'invalid_request', `users.${users.indexOf(struck[0] as Entry)}: entry is not valid`)
  }
  const others = users.filter((entry) => !struck.includes(entry))
  const answer = others.length > 0 ? next({ ...call, body: { users: others } }) : json(200, { updated: [], errors: [] })
  if (rule.kind === 'limitsOmit' || answer.status !== 200) return answer
  const result = JSON.parse(answer.body as string) as Result
  const errors = [...result.errors, ...struck.map(({ email }) => ({ email, error: rule.error }))]
  return json(200, { ...result, errors })
}

function usersOf({ body }: Call): Entry[] {
  const users = (body as { users?: unknown } | undefined)?.users
  return Array.isArray(users) ? (users as Entry[]) : []
}

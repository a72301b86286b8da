import { type Answer, type Call, failure, json } from '../answer.ts'
import type { ParsedRule } from './rule.ts'

type Entry = { email: string; limit: number }
type Result = { updated: Entry[]; errors: { email: string; error: string }[] }
type OddAnswer = Extract<ParsedRule, { kind: 'limitsAnswer' }>

/**
 * Carries out a request for credit limits under a rule: some addresses are taken out of it before the platform sees it,
 * and then fail, are forgotten, or sink the whole group; or the platform does its work and answers oddly.
 */
export function setLimitsUnder(rule: ParsedRule, call: Call, next: (call: Call) => Answer): Answer {
  switch (rule.kind) {
    case 'limitsTooMany':
      if (usersOf(call).length <= rule.most) return next(call)
      return failure(413, 'too_large', `at most ${rule.most} entries`)
    case 'limitsAnswer':
      return oddly(rule, next(call))
    case 'limitsErrors':
    case 'limitsOmit':
    case 'limitsReject':
      return byAddress(rule, call, next)
    default:
      return next(call)
  }
}

type AddressRule = Extract<ParsedRule, { kind: 'limitsErrors' | 'limitsOmit' | 'limitsReject' }>

function byAddress(rule: AddressRule, call: Call, next: (call: Call) => Answer): Answer {
  const users = usersOf(call)
  const names = rule.emails?.map((email) => email.toLowerCase())
  const struck = users.filter(({ email }) => !names || names.includes(String(email).toLowerCase()))
  if (struck.length === 0) return next(call)
  if (rule.kind === 'limitsReject') {
    return failure(rule.status, 'invalid_request', `users.${users.indexOf(struck[0] as Entry)}: entry is not valid`)
  }
  const others = users.filter((entry) => !struck.includes(entry))
  const answer = others.length > 0 ? next({ ...call, body: { users: others } }) : json(200, { updated: [], errors: [] })
  const result = resultOf(answer)
  if (rule.kind === 'limitsOmit' || !result) return answer
  const errors = [...result.errors, ...struck.map(({ email }) => ({ email, error: rule.error }))]
  return json(200, { ...result, errors })
}

function oddly({ fields, drop, rows }: OddAnswer, answer: Answer): Answer {
  const result = resultOf(answer)
  if (!result) return answer
  const row = (one: { email: string }) => (one.email in rows ? rows[one.email] : one)
  const bent = { ...result, updated: result.updated.map(row), errors: result.errors.map(row), ...fields }
  return json(200, Object.fromEntries(Object.entries(bent).filter(([name]) => !drop.includes(name))))
}

function resultOf({ status, body }: Answer): Result | null {
  return status === 200 ? (JSON.parse(body as string) as Result) : null
}

function usersOf({ body }: Call): Entry[] {
  const users = (body as { users?: unknown } | undefined)?.users
  return Array.isArray(users) ? (users as Entry[]) : []
}

import * as z from 'zod'
import { type Answer, type Call, json } from '../answer.ts'
import type { World } from '../world.ts'
import { refuse } from './sessions.ts'

/** The limits that were set: e-mail address in lower case -> limit. */
export type Limits = Map<string, number>

const LimitsRequest = z.looseObject({
  users: z
    .array(z.looseObject({ email: z.string().min(1), limit: z.int() }))
    .min(1)
    .max(100),
})

/** PUT /organization/usage/limits/users: each entry ends in `updated` or `errors` (§4.3 rule 2). */
export function setUserLimits({ body }: Call, { world, limits }: { world: World; limits: Limits }): Answer {
  const parsed = LimitsRequest.safeParse(body)
  if (!parsed.success) return refuse(parsed.error)
  const updated: unknown[] = []
  const errors: unknown[] = []
  for (const { email, limit } of parsed.data.users) {
    if (!world.hasUser(email)) errors.push({ email, error: 'user not found' })
    else if (limit < 0) errors.push({ email, error: 'limit must not be negative' })
    else {
      limits.set(email.toLowerCase(), limit)
      updated.push({ email, limit })
    }
  }
  return json(200, { updated, errors })
}

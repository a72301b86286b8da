import type { Stored } from './contents.ts'
import { wrongLimits } from './life.ts'
import { everythingListed } from './platform-lists.ts'
import { limitOf, type World } from './world.ts'

/** Limits that went back, or that nobody asked for: of one address, a number that only one file names is told in one go. */
export function limitsThatWentBack({ told, asked }: World): string[] {
  const found: string[] = []
  const newest = new Map<string, { limit: number; over: Set<number> }>()
  for (const { email, limit } of told) {
    const before = newest.get(email) ?? { limit, over: new Set<number>() }
    if (limit !== before.limit) before.over.add(before.limit)
    if (limit >= firstAsked && before.over.has(limit)) found.push(`${email} went back to ${limit}`)
    if (wrongLimits.includes(limit)) found.push(`${email} got ${limit}, which only a refused file says`)
    newest.set(email, { ...before, limit })
  }
  const known = new Set(told.map(({ email, limit }) => `${email} ${limit}`))
  for (const { email, limit } of asked) if (!known.has(`${email} ${limit}`)) found.push(`${email} never got ${limit}`)
  return found
}

const firstAsked = 100_000

/** Users whose limit is not what the policy says. */
export async function outsideOfPolicy({ simulator }: World): Promise<string[]> {
  const users = await everythingListed(simulator, 'organization_users')
  return users.flatMap((user) => {
    const { email } = user
    if (typeof email !== 'string') return []
    const [has, says] = [simulator.limits.get(email.toLowerCase()), limitOf(user)]
    return has === says ? [] : [`${email} has ${has}; the policy says ${says}`]
  })
}

/** Entries of files that have not exactly one outcome in the ledger. */
export function outcomesMissing({ limits }: Stored, { asked }: World): string[] {
  const outcomes = limits
    .filter(({ sk }) => sk?.S?.startsWith('outcome#'))
    .map(({ body }) => JSON.parse(body?.S ?? '{}') as { identity: string; limit: number })
  const counted = new Map<string, number>()
  for (const { identity, limit } of outcomes) {
    const entry = `${identity} ${limit}`
    counted.set(entry, (counted.get(entry) ?? 0) + 1)
  }
  return asked.flatMap(({ email, limit }) => {
    const count = counted.get(`${email} ${limit}`) ?? 0
    return count === 1 ? [] : [`${email} ${limit} has ${count} outcomes`]
  })
}

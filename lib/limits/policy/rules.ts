import { isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import type { Condition, Policy } from './policy.ts'

/** A user of the organization, as far as a policy looks at one. */
export type PolicyUser = { identity: string; address: string; metadata: { [key: string]: Json } }

/** A group whose lists were read. `line` is where it stands in the policy. */
export type GroupRule = {
  name: string
  line: number
  limit: number | null
  priority: number
  /** Identities of those who are named one by one, here or in a list. */
  named: ReadonlySet<string>
  domains: ReadonlySet<string>
  condition: Condition | null
}

/** An override of one person; its days count from their beginning to their end. */
export type OverrideRule = { line: number; limit: number; from: string; until: string; reason: string }

/** A policy with its lists, ready to be asked. */
export type Rules = {
  /** A hash of the policy and its lists: it names what was decided by. */
  version: string
  policy: Policy
  defaultLine: number
  leaversLine: number
  groups: readonly GroupRule[]
  /** By identity; no two of one person share a day. */
  overrides: ReadonlyMap<string, readonly OverrideRule[]>
}

/** What a policy says of one user. A limit of null leaves theirs as it is. */
export type Verdict = { limit: number | null; rule: string; line: number; why: string; until?: string }

/** Two groups of one priority claim a user: nobody can say what they get. */
export type Tie = { tie: readonly string[] }

/** The groups that a user belongs to. */
export function groupsOf(user: PolicyUser, { groups }: Rules): GroupRule[] {
  const domain = user.identity.slice(user.identity.lastIndexOf('@') + 1)
  return groups.filter(
    ({ named, domains, condition }) =>
      named.has(user.identity) || domains.has(domain) || (condition !== null && holds(condition, user.metadata)),
  )
}

/** What a policy names that the list of users has not: groups without a member, and addresses that are no user's. */
export type Unmet = { groups: string[]; addresses: string[] }

/** Finds what a policy names in vain: often a name that changed, or one that is misspelled. */
export function unmetBy(users: readonly PolicyUser[], rules: Rules): Unmet {
  const members = new Set(users.flatMap((user) => groupsOf(user, rules)))
  const known = new Set(users.map(({ identity }) => identity))
  const named = new Set([...rules.groups.flatMap(({ named: some }) => [...some]), ...rules.overrides.keys()])
  return {
    groups: rules.groups.filter((group) => !members.has(group)).map(({ name }) => name),
    addresses: [...named].filter((identity) => !known.has(identity)).toSorted(),
  }
}

/** What a policy says of a user on a day: an override, else the group of the highest priority, else the default. */
export function verdictOn(user: PolicyUser, rules: Rules, today: string): Verdict | Tie {
  const override = rules.overrides.get(user.identity)?.find(({ from, until }) => from <= today && today <= until)
  if (override) {
    const { limit, line, from, until, reason } = override
    return { limit, line, rule: 'override', why: `${from} to ${until}: ${reason}`, until }
  }
  const groups = groupsOf(user, rules)
  const highest = Math.max(...groups.map(({ priority }) => priority))
  const [first, ...others] = groups.filter(({ priority }) => priority === highest)
  if (first === undefined) {
    return {
      ...limitOf(rules.policy.default),
      line: rules.defaultLine,
      rule: 'default',
      why: 'no other rule names them',
    }
  }
  if (others.length > 0) return { tie: [first, ...others].map(({ name }) => name) }
  const overruled = groups.filter((group) => group !== first).map(({ name }) => name)
  const why =
    overruled.length > 0 ? `priority ${first.priority}, above ${overruled.join(', ')}` : whyMember(first, user)
  return { limit: first.limit, line: first.line, rule: `group ${first.name}`, why }
}

/** A limit as a policy writes it, as a number or null. */
export function limitOf(written: number | 'none'): { limit: number | null } {
  return { limit: written === 'none' ? null : written }
}

function whyMember({ named, domains, condition }: GroupRule, { identity, metadata }: PolicyUser): string {
  if (named.has(identity)) return 'named in the policy or its list'
  if (condition !== null && holds(condition, metadata)) return `metadata.${condition.field}`
  return `domain ${[...domains].find((domain) => identity.endsWith(`@${domain}`)) ?? ''}`
}

function holds({ field, equals, oneOf }: Condition, metadata: { [key: string]: Json }): boolean {
  const value = fieldOf(metadata, field)
  if (equals !== undefined) return value === equals
  if (oneOf !== undefined) return oneOf.some((one) => one === value)
  return value !== undefined && value !== null && value !== ''
}

/** A field of the metadata: of that very name, or by the way that its dots lead. */
function fieldOf(metadata: { [key: string]: Json }, field: string): Json | undefined {
  if (Object.hasOwn(metadata, field)) return metadata[field]
  let value: Json | undefined = metadata
  for (const key of field.split('.')) {
    if (!isPlainObject(value) || !Object.hasOwn(value, key)) return undefined
    value = (value as { [key: string]: Json })[key]
  }
  return value
}

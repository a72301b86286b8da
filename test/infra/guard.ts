import type { Right } from './required-rights.ts'
import { permission, type Statement, statementsOf } from './role-permissions.ts'
import { functionNamed, resolved, type Synthesized } from './synthesized.ts'

/** One action on one pattern of resources, as a role allows it. */
type Grant = { permission: string; allows(right: Right): boolean }

/** Says what functions may do, and remembers which of their permissions they used. */
export type Guard = {
  /** What a function lacks for a request, in words; null when nothing. `signer`: its name, or the owner of the account. */
  refusalOf(signer: string, rights: readonly Right[]): string | null
  /** All permissions of a function. */
  grantedTo(functionName: string): string[]
  usedBy(functionName: string): string[]
}

/** A guard over the roles of a template. The account's owner may do all. */
export function createGuard(template: Synthesized, owner: string): Guard {
  const grants = new Map<string, { grants: Grant[]; used: Set<string> }>()
  const of = (functionName: string) => {
    const found = grants.get(functionName) ?? { grants: grantsOf(template, functionName), used: new Set() }
    grants.set(functionName, found)
    return found
  }
  return {
    refusalOf: (signer, rights) => {
      if (signer === owner) return null
      const { grants, used } = of(signer)
      for (const right of rights) {
        const granting = grants.filter((grant) => grant.allows(right))
        if (granting.length === 0) return `${signer} may not do ${right.action} on ${right.resource}`
        for (const { permission } of granting) used.add(permission)
      }
      return null
    },
    grantedTo: (functionName) => of(functionName).grants.map(({ permission }) => permission),
    usedBy: (functionName) => [...of(functionName).used],
  }
}

/** All that the role of a function allows. */
function grantsOf(template: Synthesized, functionName: string): Grant[] {
  const [role] = (functionNamed(functionName, template).Role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt']
  return statementsOf(role, template).flatMap((statement) => {
    const holds = conditionOf(statement)
    return [statement.Action].flat().flatMap((action) =>
      [statement.Resource].flat().map((resource) => {
        const matches = patternOf(resolved(resource))
        return {
          permission: permission(action, resolved(resource)),
          allows: (right: Right) => right.action === action && matches.test(right.resource) && holds(right),
        }
      }),
    )
  })
}

/** In a policy `*` stands for any characters, and `?` for one. */
function patternOf(resource: string): RegExp {
  const escaped = resource.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}

/** What else a statement asks for. @throws Error for what these tests can't judge. */
function conditionOf({ Effect, Condition = {} }: Statement): (right: Right) => boolean {
  const { 'ForAllValues:StringEquals': equal = {}, ...others } = Condition as Record<string, Record<string, string[]>>
  const { 'dynamodb:LeadingKeys': partitions, ...otherKeys } = equal
  if (Effect !== 'Allow' || Object.keys({ ...others, ...otherKeys }).length > 0) {
    throw new Error(`what does this statement allow? Say so in guard.ts: ${JSON.stringify({ Effect, Condition })}`)
  }
  if (!partitions) return () => true
  return ({ partitions: of }) => of.length > 0 && of.every((partition) => partitions.includes(partition))
}

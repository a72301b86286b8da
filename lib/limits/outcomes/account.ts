import type { LimitOrigin } from '../../streams/limit-outcome.ts'

/** What the ledger and its outcomes tell of where a limit comes from. */
export type Accountable = { [Name in keyof LimitOrigin]?: LimitOrigin[Name] | null } & {
  source?: string
  requestedBy?: string
}

/**
 * Who answers for a limit, in words for people: "policy 5d1e0a7c, override: migration, until 2026-05-31; plan 0123, asked
 * by Cy, approved by Ana". Says nothing that is not recorded; what was asked for before these things were has its source.
 */
export function accountOf(from: Accountable): string {
  const { sourceKind, policyVersion, rule, why, until, source, planId, requestedBy, approvedBy } = from
  const what = [
    ...(policyVersion ? [`policy ${policyVersion}`] : []),
    ...(rule ? [rule] : []),
    ...(!policyVersion && source ? [source] : []),
    ...(!policyVersion && !source && sourceKind ? [sourceKind === 'cli' ? 'command line' : sourceKind] : []),
  ].join(', ')
  const because = why ? `${what === '' ? '' : ': '}${why}` : ''
  const end = until ? ` (until ${until})` : ''
  const planNamed = planId && !source?.includes(planId) ? [`plan ${planId}`] : []
  const people = [
    ...planNamed,
    ...(requestedBy ? [`asked by ${requestedBy}`] : []),
    ...(approvedBy ? [`approved by ${approvedBy}`] : []),
  ]
  return [`${what}${because}${end}`, people.join(', ')].filter((part) => part !== '').join('; ')
}

import { identityOf } from '../email.ts'
import type { LimitChange } from '../intake/plan.ts'
import { realChanges } from '../intake/plan.ts'
import type { LimitState } from '../limit-state.ts'
import type { Bound, Policy } from './policy.ts'

/** What a plan is measured by. */
export type Guarded = {
  guard: Policy['guard']
  changes: readonly LimitChange[]
  /** The ledger's knowledge of all whom the policy knows. */
  states: ReadonlyMap<string, LimitState>
  /** Limits that the policy changed on the same day before. */
  changedToday: number
}

/** Every reason why changes may not be made without somebody's approval; none when they are within the guard. */
export function outsideGuard({ guard, changes, states, changedToday }: Guarded): string[] {
  const reasons: string[] = []
  const real = realChanges([...changes])
  const { changesPerNight, approval, total } = guard
  if (changesPerNight !== undefined && real.length > 0 && changedToday + real.length > changesPerNight) {
    const before = changedToday > 0 ? `, after ${changedToday} earlier today` : ''
    reasons.push(`It changes ${real.length} limits${before}; guard.changesPerNight is ${changesPerNight}.`)
  }
  reasons.push(...boundReasons(real, { guard, states }))
  const sums = sumsOf(changes, states)
  if (total !== undefined && sums.after > total && sums.after > sums.before) {
    reasons.push(`All limits together come to ${sums.after}; guard.total is ${total}.`)
  }
  if (approval === 'always' && changes.length > 0) reasons.push('guard.approval is always.')
  if (typeof approval === 'object' && real.length > approval.above) {
    reasons.push(`It changes ${real.length} limits; guard.approval is above ${approval.above}.`)
  }
  return reasons
}

type Bounds = Pick<Guarded, 'guard' | 'states'>

function boundReasons(changes: readonly LimitChange[], { guard, states }: Bounds): string[] {
  const beyond = (name: 'raise' | 'cut', sign: 1 | -1): string[] => {
    const bound = guard[name]
    if (!bound) return []
    const found = changes.flatMap(({ email, limit }) => {
      const from = limitsNow(states.get(identityOf(email))).find((one) => isBeyond({ from: one, limit }, bound, sign))
      return from === undefined ? [] : [`${email} ${from} -> ${limit}`]
    })
    const [first, ...others] = found
    if (first === undefined) return []
    const more = others.length > 0 ? ` and ${others.length} more` : ''
    const words = [bound.percent === undefined ? [] : `${bound.percent} %`, bound.absolute ?? []].flat().join(' and ')
    return [`${first}${more}: beyond guard.${name} (${words}).`]
  }
  return [...beyond('raise', 1), ...beyond('cut', -1)]
}

/** The limits that somebody may have now: one where the ledger is certain, none before the first. */
function limitsNow(state: LimitState | undefined): number[] {
  if (!state) return []
  const asked = state.certain || state.status === 'rejected' ? null : state.wanted
  return [state.limit, asked].filter((limit) => limit !== null)
}

/** A first limit is no raise. Any raise from 0 is beyond all percents. */
function isBeyond(
  { from, limit }: { from: number; limit: number },
  { percent, absolute }: Bound,
  sign: 1 | -1,
): boolean {
  const by = (limit - from) * sign
  if (by <= 0) return false
  return (absolute !== undefined && by > absolute) || (percent !== undefined && by * 100 > percent * from)
}

/** The sum of all limits, before and after; what is uncertain counts as the larger of what it may be. */
function sumsOf(changes: readonly LimitChange[], states: ReadonlyMap<string, LimitState>) {
  const planned = new Map(changes.map(({ email, limit }) => [identityOf(email), limit]))
  let before = 0
  let after = 0
  for (const [identity, state] of states) {
    const known = Math.max(0, ...limitsNow(state))
    before += known
    after += planned.get(identity) ?? known
    planned.delete(identity)
  }
  for (const limit of planned.values()) after += limit
  return { before, after }
}

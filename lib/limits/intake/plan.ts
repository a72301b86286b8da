import * as z from 'zod'
import { RejectedError } from '../../core/errors.ts'
import { ofKnownForm } from '../../core/form.ts'
import { contentHash } from '../../core/hash.ts'
import type { Json } from '../../core/json.ts'
import { EntryOrigin, originOf, RequestOrigin } from '../../streams/limit-outcome.ts'
import { conflictingIdentities, type LimitRules } from '../entries.ts'
import type { LimitState } from '../limit-state.ts'
import type { LimitRow, LimitRows } from './rows.ts'

const line = z.int().describe('Line of the file, from 1.')
/** A limit that a plan sets. */
export const LimitChange = z.object({
  line,
  email: z.string().describe('As it is sent.'),
  kind: z.enum(['new', 'changed']).describe('A changed one may stand already, and be said again (see `PlanInput`).'),
  from: z.int().nullable().describe('The limit now; null when the ledger knows none for certain.'),
  limit: z.int(),
  ...EntryOrigin.shape,
})
export type LimitChange = z.infer<typeof LimitChange>

/** The effect that a file would have, row by row. Its id is a hash of all the rest, so that it names this plan and no other. */
export const Plan = z.object({
  version: z.literal(1),
  id: z.string(),
  source: z.string().describe('Name of the file.'),
  ...RequestOrigin.pick({ sourceKind: true, policyVersion: true }).shape,
  usersScan: z.string().optional().describe('The scan of the users that a policy was held against.'),
  changes: z.array(LimitChange).describe('What is sent.'),
  same: z.array(z.object({ line, email: z.string(), limit: z.int() })).describe('Already so: not sent.'),
  repeated: z.array(z.object({ line, email: z.string() })).describe('Rows that only repeat an earlier one.'),
  invalid: z.array(z.object({ line, reason: z.string(), text: z.string() })),
  conflicts: z.array(z.object({ lines: z.array(line), email: z.string(), limits: z.array(z.int()) })),
  unknown: z.array(z.object({ line, email: z.string() })).describe('Sent, but no user we know has this address.'),
  refusals: z.array(z.string()).describe('Why the plan as a whole may not be applied.'),
})
export type Plan = z.infer<typeof Plan>

/** The facts that a plan is made from. */
export type PlanInput = {
  source: string
  file: Pick<LimitRows, 'rows' | 'invalid' | 'aboveMaximum'>
  /** The ledger's knowledge of the addresses, by identity. */
  states: ReadonlyMap<string, LimitState>
  /** Identities of the organization's users; null when they were never synced. */
  knownUsers: ReadonlySet<string> | null
  rules: LimitRules
  /**
   * True when requests may be on their way that the ledger does not know of. Then a limit that stands already is sent all
   * the same: one of them could change it after the plan, although the plan is what was asked for last.
   */
  sendsAll: boolean
  /** What the plan was made from, where that is a policy; how it was asked for. */
  origin?: Pick<Plan, 'sourceKind' | 'policyVersion' | 'usersScan'>
}

/** Compares a file with the ledger. A row that can't be applied stops no other, but guard rails refuse the whole plan. */
export function makePlan({ source, file, states, knownUsers, rules, sendsAll, origin }: PlanInput): Plan {
  const conflicting = conflictingIdentities(file.rows)
  const first = new Map<string, LimitRow>()
  const plan: Omit<Plan, 'id'> = {
    version: 1,
    source,
    ...origin,
    changes: [],
    same: [],
    repeated: [],
    invalid: file.invalid,
    conflicts: conflictsOf(file.rows, conflicting),
    unknown: [],
    refusals: [],
  }
  for (const row of file.rows) {
    if (conflicting.has(row.identity)) continue
    const { line, address: email, limit } = row
    if (first.has(row.identity)) {
      plan.repeated.push({ line, email })
      continue
    }
    first.set(row.identity, row)
    const state = states.get(row.identity)
    const from = state?.certain ? state.limit : null
    const kind = state && state.limit !== null ? 'changed' : 'new'
    // Until when it stands must reach the ledger, also where the limit stands already.
    if (from === limit && !sendsAll && row.until === undefined) plan.same.push({ line, email, limit })
    else plan.changes.push({ line, email, kind, from, limit, ...originOf(row) })
    if (knownUsers && !knownUsers.has(row.identity)) plan.unknown.push({ line, email })
  }
  plan.refusals = refusalsOf(plan, file.aboveMaximum, rules)
  return { ...plan, id: idOf(plan) }
}

/**
 * Reads a saved plan.
 * @throws RejectedError `bad_request` when the text is no plan, or not the one that its id names.
 */
export function parsePlan(text: string): Plan {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  const parsed = Plan.safeParse(ofKnownForm(value, { what: 'plan' }))
  if (!parsed.success) throw new RejectedError('This is no plan. Make one with "platform-sync limits plan FILE".', bad)
  const { id, ...rest } = parsed.data
  if (id === idOf(rest)) return parsed.data
  throw new RejectedError('The plan was changed after it was made. Make a new one, and apply that.', bad)
}

const bad = { code: 'bad_request' } as const

function idOf(plan: Omit<Plan, 'id'>): string {
  // Without the members that a plan may lack: they are not there, rather than undefined.
  return contentHash(JSON.parse(JSON.stringify(plan)) as Json).slice(0, 16)
}

function conflictsOf(rows: LimitRow[], conflicting: Set<string>): Plan['conflicts'] {
  const inConflict = rows.filter(({ identity }) => conflicting.has(identity))
  return [...Map.groupBy(inConflict, ({ identity }) => identity).values()].map((some) => ({
    lines: some.map(({ line }) => line),
    email: some[0]!.address,
    limits: some.map(({ limit }) => limit),
  }))
}

/** A plan that also sends what stands already: the platform may have lost it, and nobody can read it there. */
export function withSame(plan: Plan): Plan {
  const again = plan.same.map(({ line, email, limit }) => ({
    line,
    email,
    kind: 'changed' as const,
    from: limit,
    limit,
  }))
  return { ...plan, changes: [...plan.changes, ...again] }
}

/** The changes that change something, as guard rails count them. */
export function realChanges(changes: LimitChange[]): LimitChange[] {
  return changes.filter(({ from, limit }) => from !== limit)
}

function refusalsOf(plan: Omit<Plan, 'id'>, aboveMaximum: number[], { maxChanges, maxLimit }: LimitRules): string[] {
  const refusals: string[] = []
  const { changes, same, invalid, conflicts } = plan
  if (changes.length + same.length + invalid.length + conflicts.length === 0) refusals.push('The file has no rows.')
  const changing = realChanges(changes).length
  if (changing > maxChanges) {
    refusals.push(`The file changes ${changing} limits, and at most ${maxChanges} may change at once.`)
  }
  const [line, ...others] = aboveMaximum
  if (line !== undefined) {
    const more = others.length > 0 ? ` and ${others.length} more` : ''
    refusals.push(`The largest limit allowed is ${maxLimit}: line ${line}${more} asks for a larger one.`)
  }
  return refusals
}

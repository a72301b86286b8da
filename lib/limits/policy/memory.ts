import * as z from 'zod'
import { FatalError } from '../../core/errors.ts'
import { ofKnownForm } from '../../core/form.ts'
import { Plan } from '../intake/plan.ts'

/** What a policy remembers from one day to the next. */
export const PolicyMemory = z.object({
  members: z
    .record(z.string(), z.object({ address: z.string(), goneSince: z.string().optional() }))
    .describe('Everybody who was seen among the users, by identity; goneSince: the first day without them.'),
  reassertedOn: z.string().nullable().describe('The day on which all limits were last sent.'),
  sent: z
    .object({ day: z.string(), plans: z.record(z.string(), z.int()) })
    .nullable()
    .describe('Limits that changed on a day, by plan: what the guard counts.'),
  settled: z
    .object({ facts: z.string(), nextDay: z.string().nullable() })
    .nullable()
    .describe('Facts under which there was nothing to do, and the day on which they may mean something else.'),
})
export type PolicyMemory = z.infer<typeof PolicyMemory>

/** How a plan of a policy stands: it waits for somebody, it is on the queue, or it may not be applied at all. */
export const KeptPlan = z.object({
  plan: Plan,
  status: z.enum(['waiting', 'queued', 'refused']),
  reasons: z.array(z.string()).describe('Why it waits, or is refused.'),
  madeAt: z.string().describe('ISO 8601, UTC.'),
  approvedBy: z.string().nullable(),
  approvedFor: z.string().optional().describe('Why somebody approved it, in their words.'),
  all: z.boolean().describe('It sends limits that stand already, too.'),
})
export type KeptPlan = z.infer<typeof KeptPlan>

/** What one person's approval says. */
export const Approval = z.object({
  planId: z.string(),
  approvedBy: z.string().min(1).max(320),
  reason: z.string().max(500).optional().describe('Why, in the words of whoever approved it.'),
})
export type Approval = z.infer<typeof Approval>

/** The plans and the memory of a policy, as they are kept. Writes replace what was there. */
export type PolicyStore = {
  /** Reads what the policy remembers; null before one was ever applied. */
  memory(): Promise<PolicyMemory | null>
  writeMemory(memory: PolicyMemory): Promise<void>
  /** Reads the plan that was made last, whatever became of it; null when there was none. */
  newest(): Promise<KeptPlan | null>
  /** Keeps a plan under its id, and as the newest one. */
  writePlan(kept: KeptPlan): Promise<void>
  /** Reads a plan by its id. */
  plan(id: string): Promise<KeptPlan | null>
  /** Reads somebody's approval of a plan; null when nobody gave it. */
  approval(planId: string): Promise<Approval | null>
  writeApproval(approval: Approval): Promise<void>
}

/** Reads what was kept. @throws FatalError `damaged_state` that names the object. */
export function readKept<S extends z.ZodType>(schema: S, bytes: Uint8Array, key: string): z.infer<S> {
  try {
    return schema.parse(
      ofKnownForm(JSON.parse(Buffer.from(bytes).toString()), { what: `object ${key} of the inbox bucket` }),
    )
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    const what = `${key} in the inbox bucket is damaged; remove it, and apply the policy again`
    throw new FatalError(what, { code: 'damaged_state', cause })
  }
}

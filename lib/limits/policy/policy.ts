import * as z from 'zod'
import { isTimeZone } from '../../core/clock.ts'
import { isDay } from '../until.ts'

/** What stands where a rule leaves a limit as it is. */
export const leaveAlone = 'none'

function limit(what: string) {
  const error = 'is neither a whole number from 0 nor none'
  return z
    .union([z.int(error).min(0, error).max(Number.MAX_SAFE_INTEGER, error), z.literal(leaveAlone)], { error })
    .describe(what)
}

function whole(what: string, least = 0) {
  return z.int(`is no whole number`).min(least, `is below ${least}`).max(Number.MAX_SAFE_INTEGER).describe(what)
}

function day(what: string) {
  return z
    .string('is no day like 2026-05-31')
    .refine(isDay, 'is no day of the calendar like 2026-05-31')
    .meta({ description: what, format: 'date' })
}

function words(what: string, most = 80) {
  return z.string('is no text').trim().min(1, 'is empty').max(most, `is longer than ${most} characters`).describe(what)
}

const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'is neither a text nor a number nor true or false',
})

const Condition = z
  .strictObject({
    field: words("Name of a field of the users' metadata; dots lead into objects: org.team.", 200),
    equals: scalar.optional().describe('The value of the field.'),
    oneOf: z.array(scalar).min(1).optional().describe('One of the values of the field.'),
    present: z.literal(true).optional().describe('Whatever the value is, but there is one.'),
  })
  .refine(({ equals, oneOf, present }) => [equals, oneOf, present].filter((each) => each !== undefined).length === 1, {
    error: 'needs one of equals, oneOf and present',
  })
export type Condition = z.infer<typeof Condition>

const Members = z
  .strictObject({
    addresses: z.array(z.string()).min(1).optional().describe('E-mail addresses.'),
    domains: z
      .array(z.string().regex(/^[^\s@]+\.[^\s@]+$/, 'is no domain like example.com'))
      .min(1)
      .optional()
      .describe('What stands behind the @ of their addresses.'),
    list: z
      .string()
      .regex(/^[\w.-]+\.csv$/, 'is no name of a CSV file beside the policy, like leads.csv')
      .optional()
      .describe('A CSV file beside the policy with a column email.'),
    metadata: Condition.optional().describe("A field of the users' metadata."),
  })
  .refine((members) => Object.keys(members).length > 0, { error: 'names nobody' })

const Group = z.strictObject({
  name: words('Names the group in plans, outcomes and reports.'),
  limit: limit('What each member gets; none leaves their limits as they are.'),
  priority: z
    .int('is no whole number')
    .default(0)
    .describe('Who is in two groups gets what the one with the higher priority says.'),
  members: Members.describe('Who is in the group: whoever is meant by at least one of these.'),
})
export type Group = z.infer<typeof Group>

const Override = z
  .strictObject({
    email: words('Whose limit it is.', 254),
    limit: z.int('is no whole number').min(0, 'is below 0').describe('What they get meanwhile.'),
    from: day('The first day, in the time zone of the policy.'),
    until: day('The last day, in the time zone of the policy.'),
    reason: words('Why; it stands on the plan, on the outcome and in the report.', 400),
  })
  .refine(({ from, until }) => from <= until, { error: 'ends before it begins', path: ['until'] })
export type Override = z.infer<typeof Override>

const Bound = z
  .strictObject({
    percent: whole('In percent of the limit before.').optional(),
    absolute: whole('In credits.').optional(),
  })
  .refine((bound) => Object.keys(bound).length > 0, { error: 'needs percent, absolute or both' })
export type Bound = z.infer<typeof Bound>

const Guard = z.strictObject({
  changesPerNight: whole('The most limits that may change in one day.').optional(),
  raise: Bound.optional().describe('The largest raise of one limit. A first limit is none.'),
  cut: Bound.optional().describe('The largest cut of one limit.'),
  total: whole('The most that all limits together may come to.').optional(),
  approval: z
    .union(
      [z.enum(['never', 'always']), z.strictObject({ above: whole('With more changes than this, a plan waits.') })],
      {
        error: 'is none of never, always and { above: 50 }',
      },
    )
    .optional()
    .describe(
      'Which plans wait for "limits approve". Without it: those outside of the guard. never: those are refused.',
    ),
})
export type Guard = z.infer<typeof Guard>

const Leavers = z.strictObject({
  set: whole('The limit of those who are no longer in the list of users.'),
  afterDays: whole('How many days later.').max(3_650, 'is more than ten years').default(0),
})

/** A policy of credit limits: who gets what. Its file is YAML; docs/policy/policy.schema.json is made from this. */
export const Policy = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  version: z.literal(1).default(1).describe('Version of this form.'),
  timeZone: z
    .string()
    .refine(isTimeZone, 'is no time zone like UTC or Europe/Berlin')
    .default('UTC')
    .describe('Whose days from, until and afterDays count.'),
  default: limit(
    'What every user of the organization gets whom nothing else names; none leaves their limits as they are.',
  ),
  groups: z.array(Group).default([]).describe('Users who get something else.'),
  overrides: z
    .array(Override)
    .default([])
    .describe('One person for a while; it outranks all groups and ends by itself.'),
  leavers: z
    .union([Leavers, z.literal(leaveAlone)], { error: 'is neither none nor like { set: 0, afterDays: 7 }' })
    .default(leaveAlone)
    .describe('What becomes of the limits of people who are no longer in the list of users.'),
  reassert: whole(
    'Every how many days all limits are sent again, since nobody can read them from the platform.',
    1,
  ).optional(),
  guard: Guard.default({}).describe('What may happen without anybody looking at it.'),
})
export type Policy = z.infer<typeof Policy>

/** The JSON Schema of a policy's file, for editors. */
export function policyJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(Policy, { io: 'input' })
  return { $schema, title: 'Policy of credit limits', ...schema }
}

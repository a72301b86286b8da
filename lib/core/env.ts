import * as z from 'zod'
import { FatalError } from './errors.ts'

/** Environment variables as they come. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The process's environment: the only place that reads it. */
export function processVariables(): Variables {
  return process.env
}

function text(hint: string) {
  return z.string(`is missing; ${hint}`)
}
function address(hint: string) {
  return z.url({
    protocol: /^https?$/,
    error: ({ input }) => (input === undefined ? `is missing; ${hint}` : `is not an http(s) address; ${hint}`),
  })
}

const rateRule = 'must be a number of requests a second, from 0.1 to 1000'

/** A rate that a configuration may set: below it one request would wait for longer than a call may take. */
export function requestsPerSecond(number: z.ZodNumber | z.ZodCoercedNumber): z.ZodNumber | z.ZodCoercedNumber {
  return number.min(0.1, rateRule).max(1_000, rateRule)
}

/** The platform's addresses, and the credential for it. */
export const PlatformVariables = z.object({
  PLATFORM_APP_URL: address('set it to the base address of the readiness reports, for example https://app.example.com'),
  PLATFORM_BASE_URL: address('set it to the base address of the v0 endpoints, for example https://api.example.com'),
  PLATFORM_API_KEY: z.string().optional(),
  PLATFORM_SECRET_ID: z.string().optional(),
  PLATFORM_REQUESTS_PER_SECOND: requestsPerSecond(z.coerce.number(rateRule)).optional(),
})

/** The place of AWS. Credentials are no part of it: the SDK finds them by itself, those of a role included. */
export const AwsVariables = z.object({
  AWS_REGION: text('set it to the region of the stack, for example eu-central-1'),
  AWS_ENDPOINT_URL: address(
    'set it to the address of the emulators, for example http://127.0.0.1:4566, or leave it out to use AWS',
  ).optional(),
})

/** The tables and the bucket that keep state and results. */
export const StoreVariables = AwsVariables.extend({
  STATE_TABLE: text('set it to the name of the state table (an output of the stateful stack)'),
  RECORDS_TABLE: text('set it to the name of the records table (an output of the stateful stack)'),
  LAKE_BUCKET: text('set it to the name of the lake bucket (an output of the stateful stack)'),
})

function count(hint: string) {
  return z.coerce.number(hint).int(hint).min(1, hint)
}

/** The place of the Iceberg tables, for those who write them and those who read them. */
export const TablesVariables = z.object({
  ICEBERG_DATABASE: z.string().optional().describe('The Glue database of the Iceberg tables.'),
  LAKE_ADDRESS: z.string().optional().describe('Where engines find the lake; s3://<bucket> by default.'),
})

/** The catalog and the event bus that learn what is published. Both absent on a laptop: then there is no catalog to fill and nobody to tell. */
export const PublishVariables = TablesVariables.extend({
  CATALOG_DATABASE: z.string().optional(),
  EVENT_BUS: z.string().optional(),
  SNAPSHOT_DAYS: count('is no number of days; set it to how long old snapshots of tables are kept').default(5),
  SNAPSHOT_COUNT: count('is no number; set it to how many snapshots of a table are kept however old they are').default(
    10,
  ),
})

/** What is known of schedules by those whom no schedule starts, as JSON; absent on a laptop, where there are none. */
export const ScheduleVariables = z.object({ RUN_SCHEDULES: z.string().optional() })

/** The key under which secret values become fingerprints. */
export const RedactionVariables = z.object({
  REDACTION_KEY: z.string().min(32, 'is too short; set it to a random text of 32 characters or more').optional(),
  REDACTION_SECRET_ID: z.string().optional(),
})

/** The audit trail: nothing is recorded without a bucket for it. */
export const AuditVariables = z.object({
  AUDIT_BUCKET: z.string().optional(),
  AUDIT_SIGNING_KEY_ARN: z.string().optional(),
  AUDIT_SIGNING_KEY_FILE: z.string().optional(),
  AUDIT_WATCH_RULES: z.string().optional(),
  AUDIT_ORGANIZATION: z.string().optional(),
})

/** The messages of sessions: read where they are enabled, since that is many requests. */
export const MessagesVariables = z.object({
  MESSAGES_ENABLED: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((text) => text === 'true'),
  MESSAGES_CONCURRENCY: z.coerce
    .number('is no number; set it to how many shards are read at a time')
    .int('is no whole number')
    .min(1, 'must be 1 at least')
    .max(64, 'is more than the 64 shards that there are')
    .default(4),
})

/** The tokens of machines that send hook events. */
export const HookTokenVariables = z.object({
  HOOKS_TOKENS: z.string().optional(),
  HOOKS_SECRET_ID: z.string().optional(),
})

/** Of each pair, one must be set: the value itself (laptop), or the secret that holds it (AWS). */
const pairs = [
  ['PLATFORM_API_KEY', 'PLATFORM_SECRET_ID', 'an API key, or the Secrets Manager secret that holds it'],
  ['REDACTION_KEY', 'REDACTION_SECRET_ID', 'a random text of 32 characters or more, or the secret that holds it'],
  ['HOOKS_TOKENS', 'HOOKS_SECRET_ID', 'the token of machines, or the Secrets Manager secret that holds it'],
] as const

/**
 * Reads the variables that a schema asks for. An empty one counts as missing.
 * @throws FatalError `configuration` that names every variable that is missing or malformed, and how to set it.
 */
export function readVariables<S extends z.ZodObject>(schema: S, variables: Variables): z.infer<S> {
  const present = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  )
  const result = schema.safeParse(present)
  const problems = result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  for (const [value, secret, what] of pairs) {
    if (value in schema.shape && present[value] === undefined && present[secret] === undefined) {
      problems.push(`${value} or ${secret} is missing; set one of them to ${what}`)
    }
  }
  if (problems.length === 0 && result.success) return result.data
  throw new FatalError(`The environment is not complete:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, {
    code: 'configuration',
  })
}

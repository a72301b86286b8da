import * as z from 'zod'
import { WatchRule } from '../lib/audit/changes/watch.ts'
import { ContentByRole, FieldChoices } from '../lib/compose/privacy.ts'
import { isTimeZone } from '../lib/core/clock.ts'
import { requestsPerSecond } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { defaultPrivacy, privacyChoices } from '../lib/hooks/collector/event-record.ts'
import { defaultRate } from '../lib/hooks/collector/rate-limit.ts'
import { defaultRules } from '../lib/limits/entries.ts'
import { attachmentChoices, contentChoices, defaultContents } from '../lib/redaction/personal/writing.ts'
import { hookEvents } from '../lib/streams/hook-events.ts'
import { streams } from '../lib/streams/index.ts'
import { sessionMessages } from '../lib/streams/session-messages.ts'
import type { KnownSchedule } from '../lib/sync/schedules.ts'
import { Account, EventBus, InstallationName, Network, Region, ReservedConcurrency, Secrets } from './choices.ts'

const streamNames = streams.map(({ name }) => name)
const StreamName = z.enum(streamNames as [string, ...string[]], {
  error: ({ input }) => `names no stream: "${input}". The streams are: ${streamNames.join(', ')}`,
})

function address(example: string) {
  return z.url({
    protocol: /^https$/,
    error: ({ input }) => `${input ? `is not an https address: "${input}"` : 'is missing'}; set it to ${example}`,
  })
}

const Schedule = z.strictObject({
  expression: z
    .string()
    .regex(/^(cron|rate)\(.+\)$/, 'is no schedule; write cron(0 2 * * ? *) or rate(15 minutes)')
    .describe('As EventBridge Scheduler writes it.'),
  timeZone: z.string().refine(isTimeZone, 'is no time zone; write one like UTC or Europe/Berlin').default('UTC'),
  streams: z.array(StreamName).min(1, 'is empty; name a stream or leave it out for all').default(streamNames),
  alarmAfterHours: z
    .int()
    .min(1)
    .max(168, 'is more than the 168 hours that CloudWatch can look back')
    .describe('Without a complete run for so long, an alarm is raised.'),
  report: z.boolean().default(false).describe('Whether each of its runs ends with the nightly page.'),
})

/** Terms for which CloudWatch keeps log lines, in days. */
const logDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]

const Retention = z.strictObject({
  logDays: z
    .int()
    .refine((days) => logDays.includes(days), `is no term that CloudWatch knows; write one of ${logDays.join(', ')}`)
    .default(90),
  quarantineDays: z.int().min(7).default(90).describe('How long records that no table can take are kept.'),
  oldVersionDays: z.int().min(1).default(30).describe('How long overwritten and removed objects can be restored.'),
  manifestDays: z
    .int()
    .min(30)
    .default(400)
    .describe('How long the manifest of a run is kept. What it published stays in the list of its month.'),
  snapshotDays: z.int().min(1).default(5).describe('How long an old snapshot of an Iceberg table can be asked for.'),
  snapshots: z.int().min(1).default(10).describe('How many snapshots of a table are kept, however old they are.'),
  accessLogDays: z.int().min(1).default(365),
  auditDays: z.int().min(1).default(365).describe('How long no entry of the audit trail can be removed.'),
  auditMode: z
    .enum(['governance', 'compliance'])
    .default('governance')
    .describe('compliance: not even the account owner can remove an entry, or the bucket, before its time.'),
})

/** Bounds of credit limits; the platform names none (lib/limits/rules.ts). */
const Limits = z.strictObject({
  maxLimit: z.int().min(0).default(defaultRules.maxLimit).describe('The largest limit that may be set.'),
  maxChanges: z.int().min(1).default(defaultRules.maxChanges).describe('The most changes that one file may make.'),
})

function secretName(missing: string) {
  return z.string(missing).regex(/^[\w/+=.@-]+$/, 'is no name of a secret in Secrets Manager')
}

/** The nightly page (docs/pages.md). */
const Reports = z.strictObject({
  enabled: z.boolean().default(true).describe('Without it no page is written, whatever schedules say.'),
  days: z.int().min(1).default(90).describe('How long the page of a day is kept. The newest one stays.'),
})

/** The collector of hook events. */
const Hooks = z.strictObject({
  enabled: z.boolean().default(false).describe('Without it there is no collector, and hook_events is not read.'),
  secretName: secretName('is missing').default('platform-sync/hook-tokens').describe('Holds the tokens of machines.'),
  cwd: z.enum(privacyChoices).default(defaultPrivacy.cwd).describe('What becomes of working directories.'),
  host: z.enum(privacyChoices).default(defaultPrivacy.host).describe('What becomes of names of machines.'),
  requestsPerSecond: z
    .int()
    .min(1)
    .max(5_000, 'is more than half of what API Gateway takes for a whole account')
    .default(defaultRate.perSecond)
    .describe('What all machines together may send, on average.'),
})

/** Whether the messages of sessions are read, and what is kept of them. */
const Messages = z.strictObject({
  enabled: z.boolean().default(false).describe('Without it session_messages is not read: it is many requests.'),
  concurrency: z
    .int()
    .min(1)
    .max(64, 'is more than the 64 shards that there are')
    .default(4)
    .describe('How many of the shards are read at a time.'),
  content: z.enum(contentChoices).default(defaultContents.content).describe('What becomes of what was written.'),
  roles: ContentByRole.default({}).describe('Other choices for what is written in one role.'),
  attachments: z.enum(attachmentChoices).default(defaultContents.attachments),
})

/** The choices for fields as a function gets them. */
export function privacyText(choices: z.infer<typeof FieldChoices>): string {
  return JSON.stringify(choices)
}

/** The rules as a function gets them. */
export function watchRulesText(rules: readonly WatchRule[]): string {
  return JSON.stringify(rules)
}

/** What an installation can choose. Only the platform's addresses and the name of the secret have no default. */
export const Config = z.strictObject({
  name: InstallationName,
  account: Account,
  region: Region,
  platform: z.strictObject(
    {
      appUrl: address('the base address of the readiness reports'),
      baseUrl: address('the base address of the v0 endpoints'),
      secretName: secretName('is missing; set it to the name of the Secrets Manager secret that holds the API key'),
      requestsPerSecond: requestsPerSecond(z.number())
        .optional()
        .describe('What all workers together may ask the platform, on average.'),
    },
    'is missing; give appUrl, baseUrl and secretName',
  ),
  streams: z.array(StreamName).min(1).default(streamNames).describe('The others keep their data and their tables.'),
  schedules: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,29}$/, 'must be 1 to 30 lower-case letters, digits or hyphens'),
      Schedule,
    )
    .default({
      nightly: Schedule.parse({ expression: 'cron(0 2 * * ? *)', alarmAfterHours: 26, report: true }),
      controls: Schedule.parse({
        expression: 'rate(15 minutes)',
        streams: ['enterprise_control_revisions'],
        alarmAfterHours: 2,
      }),
    }),
  retention: Retention.default(Retention.parse({})),
  limits: Limits.default(Limits.parse({})),
  reports: Reports.default(Reports.parse({})),
  hooks: Hooks.default(Hooks.parse({})),
  messages: Messages.default(Messages.parse({})),
  privacy: FieldChoices.default({}).describe(
    'Fields that are hashed or dropped, by stream and path (docs/privacy.md).',
  ),
  watchRules: z
    .array(WatchRule)
    .default([])
    .describe('Changes of settings that deserve attention, besides ours (docs/audit.md).'),
  alarmEmail: z.email('is no e-mail address').optional(),
  eventBus: EventBus,
  secrets: Secrets.default({}),
  network: Network.default(Network.parse({})),
  reservedConcurrency: ReservedConcurrency.default({}),
})
export type Config = z.infer<typeof Config>
/** The configuration as it is written, before defaults. */
export type ConfigInput = z.input<typeof Config>

/** @throws FatalError `configuration` that names every wrong value, what is wrong with it, and what to write. */
export function parseConfig(input: unknown): Config {
  const result = Config.safeParse(input)
  if (result.success) return withEnabledStreams(result.data)
  const problems = result.error.issues.map(({ path, message }) => `  - ${path.join('.') || 'config'} ${message}`)
  throw new FatalError(`The configuration (config.ts, or -c on the command line) is wrong:\n${problems.join('\n')}`, {
    code: 'configuration',
  })
}

/** The schedules whose runs end with the nightly page. */
export function reportingIn({ reports, schedules }: Pick<Config, 'reports' | 'schedules'>): string[] {
  const names = Object.entries(schedules).flatMap(([name, { report }]) => (report ? [name] : []))
  return reports.enabled ? names : []
}

/** The schedules as functions get them that tell what is late, and where there is a page. */
export function schedulesText(config: Pick<Config, 'reports' | 'schedules'>): string {
  const reporting = reportingIn(config)
  const known = Object.entries(config.schedules).map(
    ([name, { expression, timeZone, streams, alarmAfterHours }]): KnownSchedule => ({
      ...{ name, expression, timeZone, streams, alarmAfterHours },
      report: reporting.includes(name),
    }),
  )
  return JSON.stringify(known)
}

/** A schedule leaves out the streams that are not enabled, and is left out when none remains. */
function withEnabledStreams(parsed: Config): Config {
  const enabled: Record<string, boolean> = {
    [hookEvents.name]: parsed.hooks.enabled,
    [sessionMessages.name]: parsed.messages.enabled,
  }
  const readable = parsed.streams.filter((stream) => enabled[stream] !== false)
  const config = { ...parsed, streams: readable }
  const schedules = Object.entries(config.schedules).map(([name, schedule]) => {
    const enabled = schedule.streams.filter((stream) => config.streams.includes(stream))
    return [name, { ...schedule, streams: enabled }] as const
  })
  return { ...config, schedules: Object.fromEntries(schedules.filter(([, { streams }]) => streams.length > 0)) }
}

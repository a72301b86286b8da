import type { BuiltInPlatform } from './built-in-platform.ts'
import type { FaultRule } from './simulator/faults/rule.ts'

/** The platform of the demo on its first day. */
export const firstDay: BuiltInPlatform = {
  seed: 1,
  counts: { reports: 240, sessions: 1_200, users: 1_000, revisions: 40, computers: 12, messagesPerSession: 2 },
  days: 0,
  faults: [],
}

const oddSession: FaultRule = {
  kind: 'mutateRecord',
  endpoint: 'listSessions',
  page: 1,
  record: 4,
  change: { do: 'set', field: 'messageCount', value: 'a dozen' },
}

/** The same platform a day later: records changed, appeared and went, and one has a text where a number belongs from now on. */
export const secondDay: BuiltInPlatform = { ...firstDay, days: 1, faults: [oddSession] as BuiltInPlatform['faults'] }

/** What passes: the list of users is rate limited for a moment. */
export const rateLimit: FaultRule = {
  kind: 'status',
  endpoint: 'listUsers',
  status: 429,
  headers: { 'retry-after': '1' },
  times: 2,
}

/** A question to the lake, as a data engineer would put it. */
export type DemoQuery = { name: string; title: string; sql: string }

/** What the demo asks after its second run. */
export const demoQueries: readonly DemoQuery[] = [
  {
    name: 'readiness',
    title: 'Which readiness criteria improved most? Pass rate per month, in percent',
    sql: `pivot (
  select criterion_id, strftime(created_at, '%Y-%m') as month,
    round(100 * sum(numerator) / sum(denominator))::int as rate
  from readiness_criteria_current
  group by all
) on month using first(rate)
order by "2026-10" - "2026-05" desc
limit 6`,
  },
  {
    name: 'credits',
    title: 'Platform credits used per model and day',
    sql: `pivot (
  select model, strftime(created_at, '%m-%d') as day,
    round(sum(token_usage_platform_credits))::int as credits
  from sessions_current
  where model is not null
    and created_at >= (select max(created_at)::date - 4 from sessions_current)
  group by all
) on day using first(credits)
order by model`,
  },
  {
    name: 'tools',
    title: 'Which tools agents call, by model (docs/privacy.md says what is kept of messages)',
    sql: `pivot (
  select model, body ->> 'name' as tool
  from message_blocks_current
  join sessions_current using (session_id)
  where type = 'tool_use' and model is not null
) on tool using count(*)
order by model`,
  },
  {
    name: 'users',
    title: 'Who joined or left between the two runs',
    sql: `select what, count(*) as users, array_to_string(list(email order by email)[1:3], ', ') as for_example
from (
  select if(bool_or(_op = 'delete'), 'left', 'joined') as what, max(email) as email
  from organization_users, (select max(_run_id) as last from organization_users)
  group by id, last
  having min(_run_id) = last or bool_or(_op = 'delete' and _run_id = last)
)
group by what
order by what`,
  },
  {
    name: 'waits',
    title: 'How long do agents wait for people? Minutes, by repository (docs/hooks.md)',
    sql: `with waits as (
  select cwd, event_name, occurred_at, lead(occurred_at) over (partition by session_id order by occurred_at) as ended_at
  from hook_events
)
select regexp_extract(cwd, '[^/]+$') as repository, count(*) as waits,
  median(date_diff('minute', occurred_at, ended_at)) as median, max(date_diff('minute', occurred_at, ended_at)) as longest
from waits
where event_name = 'Notification'
group by repository
order by repository`,
  },
]

/** The sessions in which a developer's machine sends events. */
export const sessionsQuery = 'select session_id from sessions_current order by created_at desc limit 24'

/** Whose limits the demo sets. */
export const usersQuery = 'select distinct email from organization_users_current where email is not null order by 1'

/** What became of the record with an unforeseen value. */
export const invalidQuery: DemoQuery = {
  name: 'invalid',
  title: 'Which values came in an unforeseen form',
  sql: 'select message_count, _invalid from sessions_current where _invalid is not null',
}

/** What is asked twice: of the change log, and of the files of the Iceberg table. */
export const standingQuery: DemoQuery = {
  name: 'standing',
  title: 'How sessions stand, from the files of the change log',
  sql: 'select status, count(*) as sessions, sum(message_count) as messages from sessions_current group by status order by status',
}

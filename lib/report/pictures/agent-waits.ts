import { bandsOf, periods, within } from './periods.ts'
import type { Fold, Picture, Source } from './picture.ts'

const minuteMs = 60_000

/** How long waits are told apart: what is shorter than the first one, and so on. */
const lengths = [
  { name: 'under 1 minute', ms: minuteMs },
  { name: '1 to 5 minutes', ms: 5 * minuteMs },
  { name: '5 to 15 minutes', ms: 15 * minuteMs },
  { name: '15 to 60 minutes', ms: 60 * minuteMs },
  { name: '1 to 8 hours', ms: 8 * 60 * minuteMs },
  { name: '8 hours and more', ms: Number.POSITIVE_INFINITY },
]

/** How many events are looked at: the time between events can't be told without keeping these. */
const mostEvents = 2_000_000

const source: Source = {
  reads: [{ table: 'hook_events_current', columns: ['session_id', 'occurred_at', 'event_name'] }],
  fields: () => [
    { name: 'wait', title: 'Wait', kind: 'name' },
    { name: 'waits', title: 'Waits', kind: 'count' },
  ],
  sql: (period, now) =>
    [
      'with waits as (',
      '  select occurred_at, event_name,',
      "    lead(occurred_at) over (partition by session_id order by occurred_at, event_name = 'Notification') as ended_at",
      '  from hook_events_current',
      '  where session_id is not null and occurred_at is not null',
      '), measured as (',
      '  select epoch_ms(ended_at) - epoch_ms(occurred_at) as ms',
      '  from waits',
      `  where event_name = 'Notification' and ended_at is not null and ${within('occurred_at', period, now)}`,
      ')',
      'select case',
      ...lengths.slice(0, -1).map(({ name, ms }) => `    when ms < ${ms} then '${name}'`),
      `    else '${lengths.at(-1)?.name}' end as wait, count(*) as waits`,
      'from measured',
      'group by 1',
      'order by min(ms)',
    ].join('\n'),
  begin: foldOf,
}

/** Of each session its events' times, doubled, and one more for a notification: so they sort as the SQL has it. */
function foldOf(now: number): Fold {
  const sessions = new Map<string, number[]>()
  const bandOf = bandsOf(now)
  let events = 0
  return {
    add: (_, { rows, columns: [ids = [], times = [], names = []] }) => {
      for (let row = 0; row < rows && events < mostEvents; row++) {
        const [id, at] = [ids[row], times[row]]
        if (typeof id !== 'string' || typeof at !== 'number') continue
        const own = sessions.get(id) ?? []
        sessions.set(id, own)
        own.push(at * 2 + (names[row] === 'Notification' ? 1 : 0))
        events += 1
      }
    },
    table: (period) => {
      const last = periods.indexOf(period)
      const counts = lengths.map(() => 0)
      for (const own of sessions.values()) {
        for (const { at, ms } of waitsOf(own)) {
          const band = bandOf(at)
          const length = lengths.findIndex((each) => ms < each.ms)
          if (band >= 0 && band <= last) counts[length] = (counts[length] ?? 0) + 1
        }
      }
      return lengths.flatMap(({ name }, at) => ((counts[at] ?? 0) > 0 ? [[name, counts[at] ?? 0]] : []))
    },
  }
}

function waitsOf(events: readonly number[]): { at: number; ms: number }[] {
  return events
    .toSorted((a, b) => a - b)
    .flatMap((event, n, sorted) => {
      const next = sorted[n + 1]
      if (Math.abs(event % 2) === 0 || next === undefined) return []
      const at = Math.floor(event / 2)
      return [{ at, ms: Math.floor(next / 2) - at }]
    })
}

/** How long agents wait for people. */
export const agentWaits: Picture = {
  id: 'agent-waits',
  group: 'people',
  title: () => 'How long agents wait for people',
  unit: 'waits',
  note: 'A wait begins with a notification and ends with the next event of the session (docs/hooks.md).',
  empty: 'No agent was seen waiting in this period: hooks may not be installed (docs/hooks.md).',
  periods: 'each',
  source,
  chart: () => ({ kind: 'bars', name: 'wait', length: 'waits' }),
}

import { byTime, timeField } from './by-time.ts'
import type { Fold, Picture, Source, Value } from './picture.ts'

const joining = byTime({
  table: 'organization_users_current',
  time: 'created_at',
  sums: [{ name: 'joined', title: 'Joined', kind: 'count', column: null }],
})

const leaving = byTime({
  table: 'organization_users',
  time: '_synced_at',
  only: { column: '_op', value: 'delete' },
  sums: [{ name: 'went', title: 'Left', kind: 'count', column: null }],
})

const source: Source = {
  reads: [...joining.reads, ...leaving.reads],
  fields: (period) => [...joining.fields(period), ...leaving.fields(period).slice(1)],
  sql: (period, now) => {
    const { name } = timeField(period)
    return [
      `select coalesce(joining.${name}, leaving.${name}) as ${name}, coalesce(joined, 0) as joined, coalesce(went, 0) as went`,
      `from (\n${joining.sql(period, now)}\n) as joining`,
      `full join (\n${leaving.sql(period, now)}\n) as leaving on joining.${name} = leaving.${name}`,
      'order by 1',
    ].join('\n')
  },
  begin: (now) => {
    const folds = [joining, leaving].map((part) => part.begin(now))
    return {
      add: (reading, batch) => folds[reading]?.add(0, batch),
      table: (period) => {
        const rows = new Map<Value, Value[]>()
        for (const [at, fold] of folds.entries()) {
          for (const [day = null, count = 0] of fold.table(period)) {
            const row = rows.get(day) ?? [day, 0, 0]
            row[at + 1] = count
            rows.set(day, row)
          }
        }
        return [...rows.values()].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      },
    } satisfies Fold
  },
}

/** How the organization grows. */
export const joinersAndLeavers: Picture = {
  id: 'joiners-and-leavers',
  group: 'people',
  title: (period) => `Joiners (up) and leavers (down) per ${timeField(period).name}`,
  unit: 'people',
  note:
    'Who joined, by the day on which the user was created, of those who are still there. ' +
    'Who left, by the day of the sync that found them gone.',
  empty: 'Nobody joined or left in this period.',
  periods: 'each',
  source,
  chart: (period) => ({ kind: 'upAndDown', x: timeField(period).name, up: 'joined', down: 'went' }),
}

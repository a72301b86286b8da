import { byName, namedBy } from './by-name.ts'
import type { Picture } from './picture.ts'
import { noSession, ofSessions, sessionCount, sessionCredits } from './session-measures.ts'

/** Where sessions run. */
export const sessionsByComputer: Picture = {
  id: 'sessions-by-computer',
  group: 'use',
  title: () => 'Sessions by computer',
  unit: 'sessions',
  note: 'By the name of the computer; by its id where it has none, or is gone.',
  empty: noSession,
  periods: 'each',
  source: byName({
    ...ofSessions,
    name: {
      ...namedBy('computer_id', { name: 'computer', title: 'Computer', kind: 'name' }),
      sql: "coalesce(nullif(computers_current.name, ''), nullif(computer_id, ''), '(none)')",
      join: 'left join computers_current on computers_current.id = computer_id',
      given: { table: 'computers_current', key: 'id', name: 'name' },
    },
    sums: [sessionCount, sessionCredits],
    order: { by: 'sessions' },
  }),
  chart: () => ({ kind: 'bars', name: 'computer', length: 'sessions' }),
}

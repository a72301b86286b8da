import { byName, namedBy } from './by-name.ts'
import type { Picture } from './picture.ts'

/** How sessions end on people's machines. */
export const sessionEnds: Picture = {
  id: 'session-ends',
  group: 'people',
  title: () => 'How sessions end, by the reason that the agent gives',
  unit: 'ends',
  note: 'Of sessions on machines with the hook command (docs/hooks.md); others tell nothing.',
  empty: 'No machine told of the end of a session in this period: hooks may not be installed (docs/hooks.md).',
  periods: 'each',
  source: byName({
    table: 'hook_events_current',
    time: 'occurred_at',
    only: { column: 'event_name', value: 'SessionEnd' },
    name: namedBy('reason', { name: 'reason', title: 'Reason', kind: 'name' }),
    sums: [{ name: 'ends', title: 'Ends', kind: 'count', column: null }],
    order: { by: 'ends' },
  }),
  chart: () => ({ kind: 'bars', name: 'reason', length: 'ends' }),
}

import { byName, namedBy } from './by-name.ts'
import type { Picture } from './picture.ts'
import { noSession, ofSessions, sessionCount, sessionCredits } from './session-measures.ts'

/** Which models the credits go to. */
export const creditsByModel: Picture = {
  id: 'credits-by-model',
  group: 'use',
  title: () => 'Credits by model',
  unit: 'credits',
  note: 'The model is the one that the session has now: one that was changed takes the credits of the whole session.',
  empty: noSession,
  periods: 'each',
  source: byName({
    ...ofSessions,
    name: namedBy('model', { name: 'model', title: 'Model', kind: 'name' }),
    sums: [sessionCount, sessionCredits],
    order: { by: 'credits' },
  }),
  chart: () => ({ kind: 'bars', name: 'model', length: 'credits' }),
}

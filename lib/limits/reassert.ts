import { noDeadline } from '../core/deadline.ts'
import { slices } from '../stores/concurrently.ts'
import type { ApplyDeps } from './apply.ts'
import { sendingOfState } from './decide.ts'
import { maxEntries } from './intent.ts'
import type { Sending } from './ports.ts'
import { sendGroup } from './send-group.ts'
import { openSession } from './session.ts'

const attempts = 30
const pauseMs = 5_000

/**
 * Repairs what a stalled worker may have done: it sent limits, and heard the answer when its lease had run out. If
 * another worker set newer limits meanwhile, the platform may now have the older ones, so that the newer are sent again.
 * Where nobody came between, the addresses are pending, and their messages come again.
 */
export const reassert = async (late: readonly Sending[], deps: ApplyDeps): Promise<void> => {
  deps.log.warn('A worker outlived its lease; the newest limits of its addresses are sent again.', {
    count: late.length,
  })
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const session = await openSession({ ...deps, deadline: noDeadline }, deps.newOwner())
    if ('heldBy' in session) {
      await deps.clock.sleep(Math.min(pauseMs, Math.max(0, session.until - deps.clock.now())))
      continue
    }
    const states = await session.ledger.states(late.map(({ identity }) => identity))
    const newer = late.flatMap(({ identity, order }) => {
      const state = states.get(identity)
      return state?.status === 'applied' && state.order > order ? [sendingOfState(state)] : []
    })
    for (const group of slices(newer, maxEntries)) {
      const { error } = await sendGroup(group, session)
      if (error) throw error
    }
    await session.ledger.close(session.lease)
    return
  }
  deps.log.error('The ledger stayed held; plan the limits of these addresses anew.', { count: late.length })
}

import type { Call } from './outside.ts'
import type { Stage } from './world.ts'

/** The calls of a stage from the first to the trail's head to the last; what is around is the engine's own. */
function callsFor({ calls }: Stage): Call[] {
  // The head is read just before the index of what is recorded. The last item that is put is the run's record.
  const from = calls.findIndex(({ name }) => name.includes('/audit/')) - 1
  const to = calls.filter(({ name }) => name === 'PutItem').at(-2)
  return calls.slice(from, to?.n)
}

function isOwn({ name }: Call) {
  return name === 'PutItem' || name.includes('/audit/')
}

/**
 * The writes while there is something to record, the engine's among them. A death at a read leaves behind what a death
 * before the next write does, and so does one after a write.
 */
export function writesAround(stage: Stage): Call[] {
  return callsFor(stage).filter(({ writes }) => writes)
}

/** The trail's own writes: of the objects, of the head, and of the index. */
export function ownWrites(stage: Stage): Call[] {
  return writesAround(stage).filter(isOwn)
}

/**
 * The trail's own writes, and reads of its head before it decides what to write: not those that only look at what has
 * just been put. Of several that are under way at once, the first.
 */
export function ownTurns(stage: Stage): Call[] {
  const kindOf = (call: Call) => (call.name === 'GetItem' ? 'read' : call.writes && isOwn(call) ? placeOf(call) : null)
  return callsFor(stage).filter((call, at, calls) => {
    const [kind, before] = [kindOf(call), calls[at - 1]]
    if (kind === null || !before) return kind !== null
    return kind !== kindOf(before) && !(kind === 'read' && before.name === 'PutItem')
  })
}

function placeOf({ name }: Call) {
  return name.includes('/lake/audit/') ? 'objects' : name
}

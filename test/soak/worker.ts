import type { QueueRuntime } from '../../lib/compose/runtime.ts'
import type { SyncRuntime } from '../../lib/compose/sync.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { fetchThrough } from '../support/worlds/connections.ts'
import { type Call, createOutside, type Fate, type Outside } from '../support/worlds/outside.ts'
import type { Installation } from './installation.ts'

/** The time that one call takes. */
const callMs = 15

/** How the calls of a worker end. `refuses`: storage has trouble with this call, however often it is tried. */
export type Fates = {
  fateOf?: ((call: Call) => Fate) | undefined
  refuses?: ((name: string) => boolean) | undefined
  /** Called before each call leaves, with its number. */
  onCall?: ((n: number) => void) | undefined
}

/** A process of its own, as far as the outside can tell. */
export type Worker<T> = {
  outside: Outside
  /** What its work came to; `died` when it was killed. */
  end: Promise<{ died: true } | { died: false; result: T }>
}

/** The surroundings of a worker: what a root is composed with. */
export type Composing = { variables: Record<string, string>; runtime: SyncRuntime & QueueRuntime }

/** Starts a worker: clients, a clock and a door to the platform of its own, whose calls end as the fates say. */
export function startWorker<T>(
  installation: Installation,
  work: (composing: Composing) => Promise<T>,
  { fateOf = () => 'pass', refuses = () => false, onCall = () => {} }: Fates = {},
): Worker<T> {
  const { time, connections, variables, sqs, log, simulator } = installation
  const outside = createOutside(fateOf)
  const watched: Outside = {
    ...outside,
    send: async (call, request) => {
      onCall(outside.calls.length + 1)
      // Not by `advance`: whoever sends must not wait for those whom this wakes.
      time.pass(callMs)
      if (refuses(call.name)) throw Object.assign(new Error('storage refuses'), { name: 'TimeoutError' })
      return await outside.send(call, request)
    },
  }
  const connection = connections.take()
  connection.join(watched)
  const runtime = {
    ...{ log, sqs, metrics: noMetrics, clients: connection.clients },
    clock: time.clockOf(outside),
    fetch: guarded(
      installation,
      fetchThrough(watched, () => simulator.url),
    ),
    settings: { flushRecords: 60 },
  }
  const end = Promise.race([
    work({ variables: { ...variables }, runtime }).then((result) => ({ died: false as const, result })),
    outside.died.then(() => ({ died: true as const })),
  ])
  return { outside, end: end.finally(() => connections.giveBack(connection)) }
}

/** A door that takes one key at a time, and shows the platform its own. */
function guarded({ door }: Installation, through: typeof fetch): typeof fetch {
  return async (url, init) => {
    const headers = new Headers(init?.headers)
    if (headers.get('authorization') !== `Bearer ${door.key}`) {
      return Response.json({ error: 'this key is not valid' }, { status: 401 })
    }
    headers.set('authorization', 'Bearer sim-key')
    return await through(url, { ...init, headers })
  }
}

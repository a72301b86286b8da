/** One call of a process to the outside: its number (from 1) in the order of sending, and what it does. */
export type Call = { n: number; name: string; writes: boolean }

/**
 * What happens at a call. `die before`: the process ends and sends nothing. `die after`: it ends when the other side has
 * done its work. `lose answer`: the work is done, but the connection breaks. `stall`: the process stops for a while,
 * with the call on its lips.
 */
export type Fate = 'pass' | 'die before' | 'die after' | 'lose answer' | 'stall'

/** A process's connection to everything outside it. */
export type Outside = {
  calls: readonly Call[]
  /** Sends a call, as its fate allows. */
  send<T>(call: Omit<Call, 'n'>, request: () => Promise<T>): Promise<T>
  /** Resolves when the process has died, and nothing of it is under way any more. */
  died: Promise<void>
  /** Resolves when the process stops. */
  stalled: Promise<void>
  /** Lets a process that stopped go on. */
  resume(): void
  /** Until when the process is stopped, if it is. */
  until(): Promise<void> | null
}

/** What a client sees when a connection breaks after its request was read. */
function brokenConnection() {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

/** A lost answer frees its connection, as a broken one would. */
async function hangUp(answer: unknown) {
  if (answer instanceof Response) await answer.body?.cancel()
  else (answer as { response?: { body?: { destroy?(): void } } }).response?.body?.destroy?.()
}

/** A connection whose calls end as `fateOf` says. */
export function createOutside(fateOf: (call: Call) => Fate): Outside {
  const calls: Call[] = []
  const died = Promise.withResolvers<void>()
  const stalled = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const underWay = new Set<Promise<unknown>>()
  let dead = false
  let stopped = false
  const forever = <T>() => new Promise<T>(() => {})
  const until = () => (stopped ? resumed.promise : null)

  const perform = async <T>(request: () => Promise<T>): Promise<T> => {
    const sent = request()
    const quiet = sent.catch(() => {})
    underWay.add(quiet)
    try {
      return await sent
    } finally {
      underWay.delete(quiet)
    }
  }
  const die = async <T>(): Promise<T> => {
    dead = true
    await Promise.all(underWay)
    died.resolve()
    return await forever<T>()
  }

  const send = async <T>(call: Omit<Call, 'n'>, request: () => Promise<T>): Promise<T> => {
    if (dead) return await forever<T>()
    const numbered = { ...call, n: calls.length + 1 }
    calls.push(numbered)
    const fate = fateOf(numbered)
    if (fate === 'die before') return await die<T>()
    if (fate === 'stall') {
      stopped = true
      stalled.resolve()
    }
    if (until()) await until()
    const answer = await perform(request)
    if (dead) return await forever<T>()
    if (fate === 'die after' || fate === 'lose answer') await hangUp(answer)
    if (fate === 'die after') return await die<T>()
    if (until()) await until()
    if (fate === 'lose answer') throw brokenConnection()
    return answer
  }

  return {
    calls,
    send,
    died: died.promise,
    stalled: stalled.promise,
    resume: () => {
      stopped = false
      resumed.resolve()
    },
    until,
  }
}

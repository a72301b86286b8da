import type { Clock } from '../core/clock.ts'
import { FatalError } from '../core/errors.ts'

/** The right to write for a stream, until it expires. Everything written under it passes its `signal`. */
export type Lease = {
  readonly owner: string
  readonly expiresAt: number
  /** Aborts when the lease has expired: a worker that stalled sends nothing more, whatever it was waiting for. */
  readonly signal: AbortSignal
  /** Reserves the time that the next conditional write will ask for; call `extend` when that write is durable. */
  proposal(): number
  extend(expiresAt: number): void
  /** Ends the watch. */
  stop(): void
}

/**
 * Watches over a lease that was acquired until `expiresAt`. Conditional writes protect the checkpoint; the signal
 * protects writes that can't be conditional (a batch of records, an object), because it is checked right before a
 * request leaves and aborts the ones in flight.
 */
export function watchLease(clock: Clock, terms: { owner: string; expiresAt: number; ttlMs: number }): Lease {
  const { owner, ttlMs } = terms
  let { expiresAt } = terms
  const expiry = new AbortController()
  const watch = new AbortController()

  const untilExpired = async () => {
    while (clock.now() < expiresAt) await clock.sleep(expiresAt - clock.now(), watch.signal)
    expiry.abort(leaseLost(owner))
  }
  untilExpired().catch(() => {
    // The watch was stopped: nothing is left to protect.
  })

  // Timers stand still while a process is stopped or a laptop sleeps, so that the signal also looks at the clock itself.
  const { signal } = expiry
  const isAborted = (): boolean => {
    if (!watch.signal.aborted && clock.now() >= expiresAt) expiry.abort(leaseLost(owner))
    return Reflect.get(AbortSignal.prototype, 'aborted', signal) as boolean
  }
  const throwIfAborted = () => {
    if (isAborted()) throw signal.reason
  }
  Object.defineProperties(signal, { aborted: { get: isAborted }, throwIfAborted: { value: throwIfAborted } })

  return {
    owner,
    get expiresAt() {
      return expiresAt
    },
    signal,
    proposal: () => clock.now() + ttlMs,
    extend: (until) => {
      expiresAt = until
    },
    stop: () => watch.abort(),
  }
}

function leaseLost(owner: string) {
  return new FatalError(
    `The lease of ${owner} ran out while it was working; another worker goes on from the last checkpoint.`,
    { code: 'lease_lost' },
  )
}

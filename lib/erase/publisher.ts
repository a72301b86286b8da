import { FatalError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { PublishLease } from '../publish/ports.ts'
import { watchLease } from '../sync/lease.ts'
import type { EraseDeps } from './ports.ts'

type Deps = Pick<EraseDeps, 'publications' | 'clock' | 'newOwner' | 'leaseMs'> & { log: Log }

/**
 * Works as the publisher: no run publishes meanwhile.
 * @throws FatalError `usage` when one publishes, or left something unfinished.
 */
export async function asPublisher<T>(deps: Deps, work: (lease: PublishLease) => Promise<T>): Promise<T> {
  const { publications, clock, leaseMs, log } = deps
  const owner = deps.newOwner()
  const now = clock.now()
  const acquired = await publications.acquire({ owner, now, expiresAt: now + leaseMs })
  if ('heldBy' in acquired) throw refused('A run publishes at this moment')
  const { state } = acquired
  const lease = watchLease(clock, { owner, expiresAt: now + leaseMs, ttlMs: leaseMs })
  const save = async (release: boolean) => {
    const expiresAt = lease.proposal()
    await publications.save(state, { owner, expiresAt, release })
    lease.extend(expiresAt)
  }
  const stillMine = async () => {
    lease.signal.throwIfAborted()
    if (lease.expiresAt - clock.now() < leaseMs / 2) await save(false)
  }
  try {
    if (state.pending) throw refused('A publication was begun and not finished: run "platform-sync sync"')
    return await work({ signal: lease.signal, stillMine })
  } finally {
    await save(true).catch((error: unknown) => {
      log.warn('The lease on publishing could not be given up; it runs out by itself.', { reason: messageOf(error) })
    })
    lease.stop()
  }
}

function refused(why: string): FatalError {
  return new FatalError(`Nothing was erased. ${why}. Try again when it is done.`, { code: 'usage' })
}

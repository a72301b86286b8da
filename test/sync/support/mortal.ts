import { RetryableError } from '../../../lib/core/errors.ts'
import type { SyncDeps } from '../../../lib/sync/context.ts'

/** What happens at one call to the outside: the process dies before or after it, or the call alone fails. */
export type Trouble = { call: number; what: 'dies before' | 'dies after' | 'fails before' | 'fails after' }

const ports = ['source', 'checkpoints', 'records', 'lake', 'index'] as const

/** Ports that count their calls and meet trouble at one of them. Once dead, they do nothing any more. */
export function mortal(deps: SyncDeps, trouble: Trouble | null): { deps: SyncDeps; isDead: () => boolean } {
  let calls = 0
  let dead = false
  const guard = async (act: () => unknown): Promise<unknown> => {
    if (dead) throw new Error('dead already')
    calls += 1
    if (calls !== trouble?.call) return await act()
    const dies = trouble.what.startsWith('dies')
    if (trouble.what.endsWith('after')) await act()
    dead = dies
    throw dies ? new Error('killed') : new RetryableError('storage is out', { code: 'storage_unavailable' })
  }
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown
        if (typeof member !== 'function' || name === 'indexKey') return member
        const act = (args: unknown[]) => guard(() => member.apply(target, args))
        if (name !== 'keys') return (...args: unknown[]) => act(args)
        return async function* (...args: unknown[]) {
          yield* (await act(args)) as AsyncIterable<unknown>
        }
      },
    })
  const wrapped = Object.fromEntries(ports.map((name) => [name, wrap(deps[name])]))
  return { deps: { ...deps, ...wrapped }, isDead: () => dead }
}

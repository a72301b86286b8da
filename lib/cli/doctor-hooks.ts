import type { CollectorInspection } from '../compose/hooks-inspect.ts'
import { mapConcurrently } from '../core/concurrency.ts'
import { messageOf } from '../core/errors.ts'
import { hookPath } from '../hooks/collector/receive.ts'
import type { Check } from './doctor-checks.ts'

/** Checks what there is of the collector of hook events: its address, each token, its queue and its dead letters. */
export async function checkCollector(collector: CollectorInspection, fetch: Fetch): Promise<Check[]> {
  const { address, tokens, waiting, deadLetters } = collector
  if (!address && !tokens && !waiting && !deadLetters) {
    return [{ what: 'hook events', state: 'info', detail: 'are not collected: no variable HOOKS_* is set' }]
  }
  return [
    ...(await checkAddress({ address, tokens, fetch })),
    ...(waiting ? [await check('hook queue', async () => counted(await waiting(), 'wait to be stored'))] : []),
    ...(deadLetters ? [await check('hook dead letters', async () => judged(await deadLetters()))] : []),
  ]
}

type Fetch = typeof globalThis.fetch
type Finding = Omit<Check, 'what'>

async function check(what: string, look: () => Promise<Finding>): Promise<Check> {
  try {
    return { what, ...(await look()) }
  } catch (error) {
    return { what, state: 'fail', detail: messageOf(error) }
  }
}

function counted(messages: number, doing: string): Finding {
  return { state: 'ok', detail: `can be read; ${messages} message${messages === 1 ? '' : 's'} ${doing}` }
}

function judged(messages: number): Finding {
  if (messages === 0) return counted(messages, 'failed')
  const detail = `${messages} failed five times and are lost after two weeks: docs/operations.md, hook-dead-letters`
  return { state: 'warn', detail }
}

type Asking = Pick<CollectorInspection, 'address' | 'tokens'> & { fetch: Fetch }

async function checkAddress({ address, tokens, fetch }: Asking): Promise<Check[]> {
  const what = 'collector'
  if (!address) return [{ what, state: 'info', detail: 'was not asked: HOOKS_ADDRESS is not set' }]
  if (!tokens) return [await check(what, async () => answerOf(await ask(address, null, fetch), { hasToken: false }))]
  try {
    const known = [...(await tokens()).entries()]
    return await mapConcurrently(known, tokensAtOnce, ([n, token]) =>
      check(known.length > 1 ? `${what}, token ${n + 1}` : what, async () =>
        answerOf(await ask(address, token, fetch), { hasToken: true }),
      ),
    )
  } catch (error) {
    return [{ what, state: 'fail', detail: messageOf(error) }]
  }
}

const patienceMs = 10_000
const tokensAtOnce = 4

/** Asks with a body that holds no event: what is right about the request is told, and nothing is kept. */
async function ask(address: string, token: string | null, fetch: Fetch): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  const request = { method: 'POST', headers, body: '{"events":[]}', redirect: 'manual' } as const
  const url = `${address.replace(/\/+$/, '')}${hookPath}`
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(patienceMs) })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    const reason = messageOf((error as Error).cause ?? error)
    throw new Error(`can't be reached at ${new URL(url).origin}: ${reason}. Check HOOKS_ADDRESS and the network`)
  }
}

function answerOf(status: number, { hasToken }: { hasToken: boolean }): Finding {
  if (status === 401) {
    return hasToken
      ? {
          state: 'fail',
          detail: 'refuses the token: HOOKS_TOKENS or HOOKS_SECRET_ID holds another one than its secret',
        }
      : { state: 'ok', detail: 'answers; its token was not tried, as neither HOOKS_TOKENS nor HOOKS_SECRET_ID is set' }
  }
  if (status === 400 && hasToken) return { state: 'ok', detail: 'answers and takes the token' }
  if (status === 429) return { state: 'warn', detail: 'takes no more now: its limit of requests is used up' }
  const advice = 'HOOKS_ADDRESS may name something else; else look at the log of collect-hook-events'
  return { state: 'fail', detail: `answers with status ${status}: ${advice}` }
}

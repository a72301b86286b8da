import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { FatalError, RejectedError, RetryableError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { Page } from '../platform/paging.ts'
import type { Attempt } from './attempt.ts'
import type { Scan } from './checkpoint.ts'

const restartsPerRun = 3

/**
 * Reads a stream's pages from where the scan stands, one ahead: the next page is requested before this one is handed
 * out. Stops when the scan has reached the end or time is short. A token that the list already gave is an error, a
 * token that the server no longer takes begins a new pass.
 */
export async function* readPages(attempt: Attempt): AsyncGenerator<Page> {
  const stop = new AbortController()
  const signal = AbortSignal.any([attempt.lease.signal, stop.signal])
  const request = (token: string | null) => {
    const page = requestPage(attempt, token, signal)
    page.catch(() => {
      // Awaited later, or dropped with the page: a rejection before that is not unhandled.
    })
    return page
  }
  try {
    let token = startingToken(attempt)
    let ahead = !hasEnded(attempt) && hasTimeForPage(attempt) ? request(token) : null
    while (ahead && !hasEnded(attempt)) {
      const page = await acceptedPage(attempt, token, ahead)
      if (page === 'refused') {
        restart(attempt)
        token = null
        ahead = request(token)
        continue
      }
      const repeated = page.nextToken !== null && isUsed(attempt, page.nextToken)
      ahead = page.nextToken !== null && !repeated && hasTimeForPage(attempt) ? request(page.nextToken) : null
      token = page.nextToken
      // Taking a page in blocks the thread: first the request ahead must leave it.
      if (ahead) await eventLoopTurn()
      yield page
      if (repeated && !hasEnded(attempt)) throw repeatedToken(attempt)
    }
  } finally {
    stop.abort()
  }
}

function hasEnded({ scan }: Attempt) {
  return scan.position.at === 'end'
}

function startingToken({ scan: { position } }: Attempt) {
  return position.at === 'page' ? position.token : null
}

async function requestPage(attempt: Attempt, token: string | null, signal: AbortSignal): Promise<Page> {
  const { deps, stream, slowest } = attempt
  const began = deps.clock.now()
  const onRequest = () => {
    attempt.scan.counts.apiCalls += 1
  }
  const page = await deps.source.fetchPage(stream, token, { signal, onRequest })
  slowest.pageMs = Math.max(slowest.pageMs, deps.clock.now() - began)
  return page
}

/** The page, or `refused` when the server no longer takes a token that it once gave (its life is "not shown", §2.8). */
async function acceptedPage(attempt: Attempt, token: string | null, page: Promise<Page>): Promise<Page | 'refused'> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof RejectedError) || token === null) throw error
    attempt.deps.log.warn('A page token was refused; the scan begins again from the first page.', {
      stream: attempt.stream.name,
      status: error.status,
    })
    return 'refused'
  }
}

function restart(attempt: Attempt) {
  const { scan, run } = attempt
  const restarts = scan.restarts.runId === run.runId ? scan.restarts.count : 0
  if (restarts >= restartsPerRun) {
    throw new RetryableError(
      `${attempt.stream.name}: the platform refused a page token ${restarts + 1} times in this run, so the list can't be ` +
        'read to its end. Nothing was deleted; the next run tries again.',
      { code: 'page_token_refused' },
    )
  }
  attempt.usedTokens.clear()
  attempt.brokenKeys.clear()
  attempt.buffer.tokens = []
  scan.restarts = { runId: run.runId, count: restarts + 1 }
  Object.assign(scan, fromTheStart(scan))
}

/** The scan, about to read its list from the first page once more. What it has seen already is not gone by that. */
export function fromTheStart(scan: Scan): Scan {
  return {
    ...scan,
    pass: scan.pass + 1,
    barrenPages: 0,
    position: { at: 'start' },
  }
}

/** What is remembered of a page token; digests keep long tokens from filling memory and index parts. */
export function tokenDigest(token: string): string {
  return sha256(token).slice(0, 16)
}

function isUsed({ usedTokens }: Attempt, token: string) {
  return usedTokens.has(tokenDigest(token))
}

function repeatedToken({ stream }: Attempt) {
  return new FatalError(
    `${stream.name}: pagination stalled, the list gave a page token again that it had given before. ` +
      'Nothing was deleted and the checkpoint stays; run again, and report it to the platform if it recurs.',
    { code: 'stalled_list' },
  )
}

/** Whether one more page, and the flush after it, fit into what remains of the invocation. */
function hasTimeForPage({ deps, slowest }: Attempt) {
  return deps.deadline.remainingMs() > slowest.pageMs + slowest.flushMs + deps.settings.marginMs
}

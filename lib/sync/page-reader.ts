import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { release } from '../core/buffer.ts'
import { RejectedError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { Recognizer } from '../platform/cut.ts'
import { pageSizeOf } from '../streams/stream.ts'
import { askForPage } from './ask-page.ts'
import type { Scan } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { noNextPage, refusedTooOften, repeatedToken, stalled } from './list-errors.ts'
import { countParents } from './parent-counts.ts'
import type { SourcePage } from './ports.ts'
import { countUnknown } from './unknown-members.ts'

/** Where a scan stands in its list, and what reading it took: the page reader's part of the checkpoint. */
export type ReadingState = Pick<
  Scan,
  'position' | 'pass' | 'restarts' | 'barrenPages' | 'pageSize' | 'unknownMembers' | 'parents'
> & { pages: number; apiCalls: number }

/** A page with the pass over the list that it belongs to. */
export type ReadPage = SourcePage & { readonly pass: number }

/** The owner of a scan's place in its list: position, passes, page tokens, and the time that pages take. */
export type PageReader = {
  /** The pages from where the scan stands, until its list ends or time is short. Each is passed by `advance` before the next. */
  pages(): AsyncGenerator<ReadPage>
  /** Moves on past a page that was taken in and brought `newIds` keys that its pass had not seen. */
  advance(page: SourcePage, newIds: number): void
  /** Whether the list was read to its end. */
  readonly hasEnded: boolean
  readonly state: Readonly<ReadingState>
  /** Digests of the page tokens that this pass gave since the last call: what the next flush makes durable. */
  takeTokens(): string[]
}

const restartsPerRun = 3
const barrenPagesAllowed = 100

type Beginning = {
  /** Where the scan stands. */
  state: ReadingState
  /** Digests of the tokens that the list gave in this pass already. */
  usedTokens: Iterable<string>
  /** What must remain of the invocation besides a page: the flush after it, and the margin. */
  reserveMs: () => number
  /** Tells records that need not be read, where there are any. */
  recognizer?: Recognizer | undefined
}

/**
 * Reads a stream's list, one page ahead: the next page is requested before this one is handed out. A token that the
 * list already gave is an error; a token that the server no longer takes begins a new pass.
 */
export function createPageReader(context: ScanContext, beginning: Beginning): PageReader {
  const { state, usedTokens, reserveMs, recognizer } = beginning
  const reading: Reading = {
    context,
    reserveMs,
    recognizer,
    state: { ...state },
    usedTokens: new Set(usedTokens),
    newTokens: [],
    slowestMs: 0,
  }
  return {
    pages: () => readPages(reading),
    advance: (page, newIds) => advance(reading, page, newIds),
    get hasEnded() {
      return hasEnded(reading)
    },
    get state() {
      return reading.state
    },
    takeTokens: () => reading.newTokens.splice(0),
  }
}

/** The reader's own state. Nobody else sees it. */
type Reading = {
  readonly context: ScanContext
  readonly reserveMs: () => number
  readonly recognizer: Recognizer | undefined
  readonly usedTokens: Set<string>
  state: ReadingState
  newTokens: string[]
  /** The longest page so far: what one more would take. */
  slowestMs: number
}

async function* readPages(reading: Reading): AsyncGenerator<ReadPage> {
  const stop = new AbortController()
  const signal = AbortSignal.any([reading.context.lease.signal, stop.signal])
  const request = (token: string | null) => handled(fetchPage(reading, token, signal))
  try {
    let token = tokenOf(reading)
    let ahead = !hasEnded(reading) && hasTime(reading) ? request(token) : null
    while (ahead && !hasEnded(reading)) {
      const page = await refusalOr(ahead, token)
      if (page instanceof RejectedError) {
        restart(reading, page)
        token = null
        ahead = request(token)
        continue
      }
      if (page.ofParent?.restarts) beginPass(reading)
      const repeated = page.nextToken !== null && reading.usedTokens.has(tokenDigest(page.nextToken))
      ahead = page.nextToken !== null && !repeated && hasTime(reading) ? request(page.nextToken) : null
      token = page.nextToken
      // Taking a page in blocks the thread: first the request ahead must leave it.
      if (ahead) await eventLoopTurn()
      yield { ...page, pass: reading.state.pass }
      // All records that were cut out of an answer stand in its bytes.
      const [first] = page.cut ?? []
      if (first) release(first.bytes)
      if (repeated && !hasEnded(reading)) throw repeatedToken(reading.context.stream.name)
    }
  } finally {
    stop.abort()
  }
}

function hasEnded({ state }: Reading): boolean {
  return state.position.at === 'end'
}

function tokenOf({ state: { position } }: Reading): string | null {
  return position.at === 'page' ? position.token : null
}

/** Whether one more page, and the flush after it, fit into what remains of the invocation. */
function hasTime({ context, slowestMs, reserveMs }: Reading): boolean {
  return context.deps.deadline.remainingMs() > slowestMs + reserveMs()
}

async function fetchPage(reading: Reading, token: string | null, signal: AbortSignal): Promise<SourcePage> {
  const { context, state } = reading
  const { deps, stream, window } = context
  const onRequest = () => {
    state.apiCalls += 1
  }
  const asked = await askForPage({
    pageSize: state.pageSize ?? pageSizeOf(stream),
    fetch: async (pageSize) => {
      const began = deps.clock.now()
      const { recognizer } = reading
      const request = {
        window,
        signal,
        patience: deps.patience,
        pageSize: pageSize ?? undefined,
        recognizer,
        onRequest,
      }
      const page = await deps.source.fetchPage(stream, token, request)
      reading.slowestMs = Math.max(reading.slowestMs, deps.clock.now() - began)
      return page
    },
    hasTime: () => hasTime(reading),
    onSmaller: (pageSize, { code, status }) =>
      deps.log.warn('A page was too heavy for the platform; it is asked for in smaller pieces.', {
        stream: stream.name,
        ...{ pageSize, code, status },
      }),
  })
  const { pageSize, page } = asked
  if (pageSize !== null && pageSize !== pageSizeOf(stream)) state.pageSize = pageSize
  // What is too heavy in one parent's list says nothing of the next one's.
  if (page.ofParent?.completes || page.ofParent?.unread) state.pageSize = undefined
  return page
}

/** Notes what an answer held besides the list, and names it the first time. */
function noteUnknown({ context: { deps, stream }, state }: Reading, { unknownMembers = [] }: SourcePage): void {
  if (unknownMembers.length === 0) return
  const { counted, fresh } = countUnknown(state.unknownMembers ?? [], unknownMembers)
  state.unknownMembers = counted
  if (fresh.length === 0) return
  const names = fresh.join(', ')
  deps.log.warn('Answers hold what is not known beside the list: the API has changed.', { stream: stream.name, names })
}

function advance(reading: Reading, page: SourcePage, newIds: number): void {
  const { context, state, usedTokens, newTokens } = reading
  const { name } = context.stream
  noteUnknown(reading, page)
  state.pages += 1
  if (page.ofParent) state.parents = countParents(state.parents, page.ofParent)
  // An empty list among many is just that.
  state.barrenPages = newIds > 0 || page.ofParent ? 0 : state.barrenPages + 1
  if (page.isLast(newIds)) {
    state.position = { at: 'end' }
    return
  }
  if (page.nextToken === null) throw noNextPage(name)
  const digest = tokenDigest(page.nextToken)
  usedTokens.add(digest)
  newTokens.push(digest)
  state.position = { at: 'page', token: page.nextToken }
  if (state.barrenPages >= barrenPagesAllowed) throw stalled(name, barrenPagesAllowed)
}

function restart(reading: Reading, refusal: RejectedError): void {
  const { context, state } = reading
  const { deps, stream, run } = context
  deps.log.warn('A page token was refused; the scan begins again from the first page.', {
    stream: stream.name,
    status: refusal.status,
  })
  const restarts = state.restarts.runId === run.runId ? state.restarts.count : 0
  if (restarts >= restartsPerRun) throw refusedTooOften(stream.name, restarts + 1)
  beginPass(reading)
  state.restarts = { runId: run.runId, count: restarts + 1 }
}

/** Tokens of an earlier pass may come again. */
function beginPass(reading: Reading): void {
  reading.usedTokens.clear()
  reading.newTokens = []
  Object.assign(reading.state, nextPass(reading.state))
}

/** A request that may be dropped with its page: a rejection that nobody awaits yet is not unhandled. */
function handled(page: Promise<SourcePage>): Promise<SourcePage> {
  page.catch(() => {
    // Whoever awaits the page hears of it.
  })
  return page
}

/** The page, or the refusal when the server no longer takes a token that it once gave (its life is "not shown", §2.8). */
async function refusalOr(page: Promise<SourcePage>, token: string | null): Promise<SourcePage | RejectedError> {
  try {
    return await page
  } catch (error) {
    if (error instanceof RejectedError && token !== null) return error
    throw error
  }
}

/** The place of a scan that reads its list from the first page once more. Only what it sees from there on is there. */
export function nextPass({ pass }: Pick<Scan, 'pass'>): Pick<Scan, 'position' | 'pass' | 'barrenPages'> {
  return { position: { at: 'start' }, pass: pass + 1, barrenPages: 0 }
}

/** What is remembered of a page token; digests keep long tokens from filling memory and index parts. */
function tokenDigest(token: string): string {
  return sha256(token).slice(0, 16)
}

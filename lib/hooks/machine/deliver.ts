import { machineLimits, parsed } from './event.ts'
import type { DeliveryState, Journal } from './journal.ts'
import type { Lock } from './lock.ts'
import type { Answer, Post } from './post.ts'
import type { Spool, Spooled } from './spool.ts'

/** What a delivery works with. */
export type DeliverDeps = {
  spool: Spool
  journal: Journal
  lock: Lock
  post: Post
  now: () => number
  /** Nothing is begun after this time. */
  deadlineUnixMs: number
}

/** What a delivery did; the problem that ended it, if one did. */
export type Delivery = { delivered: number; refused: number; problem: string | null }

/** The longest time that one request may take. */
const requestMs = 10_000
/** The longest silence that a collector may ask for. */
export const silenceMs = 15 * 60_000

type Loaded = { spooled: Spooled; text: string }
/** A delivery while it has the lock. `warning` is what somebody should know although the delivery went on. */
type Pass = Delivery & { warning: string | null; notBefore: string | null; seen: Set<string> }

/**
 * Sends what is in the spool, the oldest first, until it is empty, the time is over or something is in the way.
 * @returns null when another process delivers: it finds whatever was in the spool before this call.
 */
export async function deliverSpool(deps: DeliverDeps): Promise<Delivery | null> {
  // No event is sent twice in one delivery.
  const seen = new Set<string>()
  let total: Delivery | null = null
  // Who fails to get the lock leaves its event to the owner. So the owner looks once more when it has given it back.
  while (
    total === null ||
    (total.problem === null && deps.now() < deps.deadlineUnixMs && next(deps, seen).length > 0)
  ) {
    const release = deps.lock.take(deps.now())
    if (release === null) break
    const pass: Pass = { delivered: 0, refused: 0, problem: null, warning: null, notBefore: null, seen }
    try {
      await sendAll(deps, pass)
      deps.journal.save(stateAfter(pass, deps))
    } finally {
      release()
    }
    total = sumOf(total, pass)
  }
  return total
}

function sumOf(total: Delivery | null, { delivered, refused, problem }: Pass): Delivery {
  return { delivered: delivered + (total?.delivered ?? 0), refused: refused + (total?.refused ?? 0), problem }
}

async function sendAll(deps: DeliverDeps, pass: Pass): Promise<void> {
  deps.spool.sweep(deps.now())
  while (pass.problem === null && deps.now() < deps.deadlineUnixMs) {
    const batch = next(deps, pass.seen).flatMap((spooled) => {
      pass.seen.add(spooled.id)
      const text = deps.spool.read(spooled)
      return text === null ? [] : [{ spooled, text }]
    })
    if (batch.length > 0) await send(batch, deps, pass)
    else if (next(deps, pass.seen).length === 0) break
  }
  const refusal = deps.spool.refusal()
  if (refusal === null) return
  pass.warning = refusal
  deps.journal.log(refusal)
}

/** The events of the next body. */
function next({ spool }: DeliverDeps, seen: ReadonlySet<string>): Spooled[] {
  const waiting = spool.list().filter(({ id }) => !seen.has(id))
  let bytes = bodyOf([]).length
  const fits = ({ bytes: more }: Spooled) => {
    bytes += more + 1
    return bytes <= machineLimits.bodyBytes
  }
  const end = waiting.findIndex((each, at) => at >= machineLimits.eventsPerBody || (!fits(each) && at > 0))
  return end === -1 ? waiting : waiting.slice(0, end)
}

/** The body of a delivery, from the texts of events as they are. */
export function bodyOf(texts: readonly string[]): string {
  return `{"events":[${texts.join(',')}]}`
}

async function send(batch: Loaded[], deps: DeliverDeps, pass: Pass): Promise<void> {
  const left = Math.min(requestMs, deps.deadlineUnixMs - deps.now())
  if (left <= 0) return
  let answer: Answer
  try {
    answer = await deps.post(bodyOf(batch.map(({ text }) => text)), left)
  } catch (error) {
    pass.problem = `The collector gives no answer: ${reasonOf(error)}.`
    deps.journal.log(pass.problem)
    return
  }
  if (answer.status === 202) return settle(batch, answer, { deps, pass })
  if (isAboutTheBody(answer.status)) return sendInParts(batch, answer, { deps, pass })
  pass.problem = problemOf(answer.status)
  pass.notBefore = silenceUntil(answer.retryAfter, deps.now())
  deps.journal.log(pass.problem)
}

/** An error for several addresses of one name has no message of its own. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || String(error)
}

function isAboutTheBody(status: number): boolean {
  return status === 400 || status === 413 || status === 422
}

type Work = { deps: DeliverDeps; pass: Pass }

/** One event must not hold up the others: halves find it. It stays in the spool, and the bound of the spool ends it. */
async function sendInParts(batch: Loaded[], { status }: Answer, { deps, pass }: Work): Promise<void> {
  if (batch.length === 1) {
    pass.warning = `The collector answers ${status} to event ${batch[0]?.spooled.id}.`
    return deps.journal.log(pass.warning)
  }
  const half = Math.ceil(batch.length / 2)
  for (const part of [batch.slice(0, half), batch.slice(half)]) {
    if (pass.problem === null) await send(part, deps, pass)
  }
}

/** Forgets what the receipt names, and nothing else. */
function settle(batch: Loaded[], answer: Answer, { deps, pass }: Work): void {
  const receipt = receiptOf(answer.body)
  if (receipt === null) {
    pass.problem = 'The collector answers 202 without a receipt: is the address right?'
    deps.journal.log(pass.problem)
    return
  }
  for (const { spooled } of batch) {
    const reason = receipt.refused.get(spooled.id)
    if (reason === undefined && !receipt.accepted.has(spooled.id)) continue
    deps.spool.remove(spooled)
    if (reason === undefined) pass.delivered += 1
    else {
      pass.refused += 1
      deps.journal.log(`The collector refuses event ${spooled.id}: ${reason.slice(0, 200)}`)
    }
  }
}

/** Reads a receipt by hand, by the rules of `HookReceipt`; null when it is none. */
export function receiptOf(body: string): { accepted: Set<string>; refused: Map<string, string> } | null {
  const value = parsed(body) as { accepted?: unknown; refused?: unknown } | null | undefined
  if (!Array.isArray(value?.accepted) || !Array.isArray(value.refused)) return null
  if (!value.accepted.every((id) => typeof id === 'string')) return null
  if (!value.refused.every((each) => typeof each?.id === 'string' && typeof each.reason === 'string')) return null
  return { accepted: new Set(value.accepted), refused: new Map(value.refused.map(({ id, reason }) => [id, reason])) }
}

function problemOf(status: number): string {
  if (status === 401 || status === 403) {
    return `The collector answers ${status}: the token is not valid. Run "hooks install" with --token-file.`
  }
  if (status === 429) return 'The collector answers 429: it takes no more for the moment.'
  return `The collector answers ${status}.`
}

/** The end of the silence that an answer asks for; null without one. */
function silenceUntil(retryAfter: string | undefined, now: number): string | null {
  if (retryAfter === undefined) return null
  const until = /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * 1000 : Date.parse(retryAfter)
  return Number.isNaN(until) ? null : new Date(Math.min(until, now + silenceMs)).toISOString()
}

/** The state with what a pass did. */
function stateAfter(pass: Pass, { journal, now }: DeliverDeps): DeliveryState {
  const before = journal.state()
  const at = new Date(now()).toISOString()
  const { delivered, refused, notBefore } = pass
  const message = pass.problem ?? pass.warning
  return {
    delivered: before.delivered + delivered,
    refused: before.refused + refused,
    lastDeliveryAt: delivered + refused > 0 ? at : before.lastDeliveryAt,
    lastError: message === null ? before.lastError : { at, message },
    notBefore,
  }
}

import { slices } from '../../core/concurrency.ts'
import type { Deadline } from '../../core/deadline.ts'
import { FatalError, messageOf, SyncError } from '../../core/errors.ts'
import { maxEntries } from '../intent.ts'
import type { OutgoingLimit } from '../limit-state.ts'
import type { LimitsApi } from '../ports.ts'
import { type Verdict, verdictsOf } from './answer-rows.ts'

/** The platform's answer for one address. */
export type AddressAnswer = Verdict & { outgoing: OutgoingLimit; apiCall: string }

/** The result of sending a group: answers, what was sent without an answer, and the error that stopped it. */
export type GroupResult = { answers: AddressAnswer[]; unanswered: OutgoingLimit[]; error?: unknown }

/** The most entries that the platform is taken to accept at once. The groups of a session learn it from each other. */
export type GroupSize = { most: number }

/** Dependencies of `sendGroup`. `nextCallId` names the next PUT. */
export type SendDeps = {
  api: LimitsApi
  deadline: Deadline
  nextCallId: () => string
  groupSize: GroupSize
  onRequest?: () => void
}

/** Number of addresses refused one by one, with none accepted, that are no bad addresses: the request itself is refused. */
const refusedInARow = 20
/**
 * Statuses that may mean one address, as 404 means that nobody has it. When each and every one meets them, they are about
 * the endpoint (404, 405, 410) or about what stands in front of it (421, 426).
 */
const aboutTheWay: readonly (number | undefined)[] = [404, 405, 410, 421, 426]
const tooLarge = 413

/**
 * Sends at most 100 limits. When the platform refuses a group for its content, it is halved until the bad entries stand
 * alone (15 PUTs for one among 100); what was answered before an error counts.
 */
export async function sendGroup(group: readonly OutgoingLimit[], deps: SendDeps): Promise<GroupResult> {
  const result: GroupResult = { answers: [], unanswered: [] }
  const waiting: (readonly OutgoingLimit[])[] = [group]
  let taken = false
  let found = false
  for (let part = nextPart(waiting, deps.groupSize); part !== undefined; part = nextPart(waiting, deps.groupSize)) {
    const apiCall = deps.nextCallId()
    try {
      const verdictOf = verdictsOf(await put(part, deps))
      taken = true
      result.answers.push(...part.map((outgoing) => ({ ...verdictOf(outgoing), outgoing, apiCall })))
    } catch (error) {
      if (!refusesContent(error)) return { ...result, unanswered: [...part], error }
      if (!aboutTheWay.includes(error.status)) found = true
      if (error.status === tooLarge) learnSize(deps.groupSize, part.length)
      if (part.length > 1) waiting.push(...halvesOf(part))
      else {
        result.answers.push({ outgoing: part[0]!, status: 'rejected', reason: messageOf(error), apiCall })
        const stop = stopsAll(error, { taken, found, refused: result.answers.length, last: waiting.length === 0 })
        if (stop) return { answers: [], unanswered: [], error: stop }
      }
    }
  }
  return result
}

function put(part: readonly OutgoingLimit[], { api, deadline, onRequest }: SendDeps) {
  const users = part.map(({ address: email, limit }) => ({ email, limit }))
  return api.setUserCreditLimits(users, { deadline, ...(onRequest ? { onRequest } : {}) })
}

/** The part to send next. One that is larger than what the platform takes is cut first. */
function nextPart(waiting: (readonly OutgoingLimit[])[], { most }: GroupSize): readonly OutgoingLimit[] | undefined {
  const part = waiting.pop()
  if (part === undefined || part.length <= most) return part
  const [first, ...others] = slices(part, most)
  waiting.push(...others.reverse())
  return first
}

/** Halves, the first one last, since the last one is sent next. */
function halvesOf(part: readonly OutgoingLimit[]): (readonly OutgoingLimit[])[] {
  const half = Math.ceil(part.length / 2)
  return [part.slice(half), part.slice(0, half)]
}

/** Keeps half of a size that was too large. An entry that is too large alone says nothing about groups. */
function learnSize(groupSize: GroupSize, refused: number): void {
  groupSize.most = refused === 1 ? maxEntries : Math.min(groupSize.most, Math.ceil(refused / 2))
}

/** Whether the platform refuses what a group holds: any 4xx, but for those about the credential, the rate and the time. */
function refusesContent(error: unknown): error is SyncError {
  return error instanceof SyncError && error.action !== 'retry' && refusals.has(error.code)
}
const refusals: ReadonlySet<string> = new Set(['bad_request', 'not_found'])

type SoFar = { taken: boolean; found: boolean; refused: number; last: boolean }

/** The error that says it is not the addresses: nothing was taken, and too many or all of them were refused alike. */
function stopsAll(cause: SyncError, { taken, found, refused, last }: SoFar): FatalError | null {
  if (taken) return null
  if (!found && last) return noEndpoint(cause)
  return refused === refusedInARow ? allRefused(cause) : null
}

function noEndpoint(cause: SyncError) {
  return new FatalError(
    'Nothing takes credit limits at this address of the platform, so that none was refused: check the address and the ' +
      `proxy with "platform-sync doctor", then "platform-sync limits redrive". It said: ${cause.message}`,
    { code: 'not_found', cause },
  )
}

function allRefused(cause: SyncError) {
  return new FatalError(
    `The platform refused ${refusedInARow} credit limits one by one and took none, so that the request itself must be ` +
      `wrong: check the platform address with "platform-sync doctor", then "platform-sync limits redrive". It said: ${cause.message}`,
    { code: 'bad_request', cause },
  )
}

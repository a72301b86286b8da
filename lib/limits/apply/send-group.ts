import type { Deadline } from '../../core/deadline.ts'
import { FatalError, messageOf, RejectedError } from '../../core/errors.ts'
import { identityOf } from '../email.ts'
import type { OutgoingLimit } from '../limit-state.ts'
import type { LimitsAnswer, LimitsApi } from '../ports.ts'

/** The platform's answer for one address. */
export type AddressAnswer = {
  outgoing: OutgoingLimit
  status: 'applied' | 'rejected' | 'unaccounted'
  reason: string | null
  apiCall: string
}

/** The result of sending a group: answers, what was sent without an answer, and the error that stopped it. */
export type GroupResult = { answers: AddressAnswer[]; unanswered: OutgoingLimit[]; error?: unknown }

/** Dependencies of `sendGroup`. `nextCallId` names the next PUT. */
export type SendDeps = { api: LimitsApi; deadline: Deadline; nextCallId: () => string; onRequest?: () => void }

/** Number of addresses refused one by one, with none accepted, that are no bad addresses: the request itself is refused. */
const refusedInARow = 20
/** Statuses that may mean of one address that nobody has it; of each and every one, that there is no such endpoint. */
const nothingThere: readonly (number | undefined)[] = [404, 410]

/**
 * Sends at most 100 limits. When the platform refuses a group as a whole, it is halved until the bad entries stand
 * alone (15 PUTs for one among 100); what was answered before an error counts.
 */
export async function sendGroup(group: readonly OutgoingLimit[], deps: SendDeps): Promise<GroupResult> {
  const result: GroupResult = { answers: [], unanswered: [] }
  const waiting: (readonly OutgoingLimit[])[] = [group]
  let taken = false
  let found = false
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const apiCall = deps.nextCallId()
    try {
      const answer = await deps.api.setUserCreditLimits(
        part.map(({ address: email, limit }) => ({ email, limit })),
        { deadline: deps.deadline, ...(deps.onRequest ? { onRequest: deps.onRequest } : {}) },
      )
      taken = true
      result.answers.push(...matched(part, answer, apiCall))
    } catch (error) {
      if (!(error instanceof RejectedError)) return { ...result, unanswered: [...part], error }
      if (!nothingThere.includes(error.status)) found = true
      if (part.length > 1) {
        const half = Math.ceil(part.length / 2)
        waiting.push(part.slice(half), part.slice(0, half))
      } else {
        result.answers.push({ outgoing: part[0]!, status: 'rejected', reason: messageOf(error), apiCall })
        const stop = stopsAll(error, { taken, found, refused: result.answers.length, last: waiting.length === 0 })
        if (stop) return { answers: [], unanswered: [], error: stop }
      }
    }
  }
  return result
}

type SoFar = { taken: boolean; found: boolean; refused: number; last: boolean }

/** The error that says it is not the addresses: nothing was taken, and too many or all of them were refused alike. */
function stopsAll(cause: RejectedError, { taken, found, refused, last }: SoFar): FatalError | null {
  if (taken) return null
  if (!found && last) return noEndpoint(cause)
  return refused === refusedInARow ? allRefused(cause) : null
}

function noEndpoint(cause: RejectedError) {
  return new FatalError(
    'The platform has no endpoint for credit limits at this address, so that none was refused: check the platform ' +
      `address with "platform-sync doctor", then "platform-sync limits redrive". It said: ${cause.message}`,
    { code: 'not_found', cause },
  )
}

function allRefused(cause: RejectedError) {
  return new FatalError(
    `The platform refused ${refusedInARow} credit limits one by one and took none, so that the request itself must be ` +
      `wrong: check the platform address with "platform-sync doctor", then "platform-sync limits redrive". It said: ${cause.message}`,
    { code: 'bad_request', cause },
  )
}

/** Finds each address in the answer, in whatever case it comes back. */
function matched(part: readonly OutgoingLimit[], { updated, errors }: LimitsAnswer, apiCall: string): AddressAnswer[] {
  const limits = new Map(updated.map(({ email, limit }) => [identityOf(email), limit]))
  const faults = new Map(errors.map(({ email, error }) => [identityOf(email), error]))
  return part.map((outgoing) => {
    const limit = limits.get(outgoing.identity)
    const fault = faults.get(outgoing.identity)
    const answered = (status: AddressAnswer['status'], reason: string | null) => ({ outgoing, status, reason, apiCall })
    if (limit !== undefined && fault !== undefined) {
      return answered('unaccounted', `the platform says that it was set, and that it was not: ${fault}`)
    }
    if (fault !== undefined) return answered('rejected', fault)
    if (limit === undefined) return answered('unaccounted', "the platform's answer does not mention the address")
    if (limit === outgoing.limit) return answered('applied', null)
    return answered('unaccounted', `the platform says that it set the limit ${limit} instead`)
  })
}

import type { Deadline } from '../core/deadline.ts'
import type { Outcome } from '../streams/credit-limit-outcomes.ts'
import type { LeaseClaim } from '../sync/ports.ts'

/** What the platform said to a group of limits (§4.3 rule 2). */
export type LimitsAnswer = {
  updated: { email: string; limit: number }[]
  errors: { email: string; error: string }[]
}

/**
 * Endpoint 12. Throws `RejectedError` when the group is refused as a whole because of what is in it, `RetryableError`
 * when another time may do, `FatalError` when only an operator can help; each of the latter two may have been carried out.
 */
export type LimitsApi = {
  /** Sets 1 to 100 limits. `onRequest` is called for each HTTP request, repetitions included. */
  setUserCreditLimits(
    users: { email: string; limit: number }[],
    options?: { deadline?: Deadline; onRequest?: () => void },
  ): Promise<LimitsAnswer>
}

/** What the ledger knows of one address. */
export type LimitState = {
  identity: string
  /** The spelling last sent. */
  address: string
  /** The newest intent: an older one is never sent again. */
  order: string
  requestId: string
  /** What the newest intent asked for, and how it ended; `pending`: it was sent, and no answer is recorded. */
  wanted: number
  status: 'pending' | 'applied' | 'rejected' | 'unaccounted'
  /** The last limit that the platform confirmed, or null. */
  limit: number | null
  /** Whether nothing unanswered was sent since then, so that `limit` is what the platform has. */
  certain: boolean
  /** ISO 8601, UTC. */
  changedAt: string
}

/** A limit about to be sent. */
export type Sending = Pick<LimitState, 'identity' | 'address' | 'order' | 'requestId'> & { limit: number }

/** A worker's hold on the ledger. */
export type LedgerLease = { owner: string; fence: number; expiresAt: number }

/** Why a message was not done, for whoever finds it among the dead letters. */
export type MessageFailure = { messageId: string; at: string; code: string; reason: string; receiveCount: number }

/**
 * The ledger as the worker writes it. One worker holds it at a time, by a lease that outlives the worker's own time
 * limit; the journal says what a worker was about to send, so that its successor knows after a death.
 */
export type Ledger = {
  /** Takes the lease if it is free or expired, with the journal that the last holder left. */
  open(claim: LeaseClaim): Promise<{ fence: number; journal: Sending[] } | { heldBy: string; until: number }>
  /** Replaces the journal. @throws FatalError `lease_lost` when another worker has taken over. */
  journal(lease: LedgerLease, sending: Sending[]): Promise<void>
  /** Empties the journal and gives the lease up. @throws FatalError `lease_lost` */
  close(lease: LedgerLease): Promise<void>
  /** Consistent reads; an address that was never sent is missing. */
  states(identities: Iterable<string>): Promise<Map<string, LimitState>>
  /** The outcomes that are recorded under these keys (see `outcomeKey`). */
  outcomes(keys: OutcomeKey[]): Promise<Map<string, Outcome>>
  /** Records outcomes, then states: a state that is settled has its outcome. A repetition overwrites itself. */
  record(entries: { outcomes: Outcome[]; states: LimitState[]; recordedAt: number; callId: string }): Promise<void>
  /** Keeps why messages failed. */
  noteFailures(failures: MessageFailure[]): Promise<void>
}

/** Names an outcome: the same entry always has the same key. */
export type OutcomeKey = { identity: string; name: string }

/** The ledger as people and the lake read it. */
export type LedgerReader = {
  /** All addresses, as they stand; those in the journal are pending. */
  allStates(): AsyncIterable<LimitState>
  /** Like `Ledger.states`, with what a worker is sending or has left unanswered as pending. */
  statesWithPending(identities: Iterable<string>): Promise<Map<string, LimitState>>
  outcomes(keys: OutcomeKey[]): Promise<Map<string, Outcome>>
  /** Outcomes of one address, newest request first. */
  outcomesOf(identity: string): Promise<Outcome[]>
  /** Outcomes recorded from a time (Unix ms) up to before another; each entry once, as it stands now. */
  outcomesBetween(from: number, to: number): AsyncIterable<Outcome>
  /** Those of them that failed. */
  failedBetween(from: number, to: number): AsyncIterable<Outcome>
  failures(messageIds: string[]): Promise<Map<string, MessageFailure>>
}

/** A message on its way to the queue. */
export type OutgoingMessage = { id: string; body: string; groupId: string; deduplicationId: string }

/** The queue of intents, as publishers see it. */
export type IntentQueue = {
  /** Sends at most 10 messages; answers which were not taken, and whether sending them again can help. */
  sendBatch(messages: OutgoingMessage[]): Promise<{ id: string; code: string; senderFault: boolean }[]>
}

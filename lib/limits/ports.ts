import type { Deadline } from '../core/deadline.ts'
import type { LimitOutcome } from '../streams/limit-outcome.ts'
import type { LeaseClaim } from '../sync/ports.ts'
import type { LimitState, OutgoingLimit } from './limit-state.ts'
import type { OutcomeKey } from './outcomes/outcome.ts'

/** The platform's answer to a group of limits (§4.3 rule 2): its lists as they came, for `verdictsOf` to read. */
export type LimitsAnswer = { updated?: unknown; errors?: unknown }

/**
 * Endpoint 12. Throws `RetryableError` when another time may do, and an error with the code `bad_request` or `not_found`
 * when the group is refused as a whole because of what is in it. Any other error needs an operator. Only what was refused
 * for its content has certainly not been carried out.
 */
export type LimitsApi = {
  /** Sets 1 to 100 limits. `onRequest` is called for each HTTP request, repetitions included. */
  setUserCreditLimits(
    users: { email: string; limit: number }[],
    options?: { deadline?: Deadline; onRequest?: () => void },
  ): Promise<LimitsAnswer>
}

/** A worker's hold on the ledger. */
export type LedgerLease = { owner: string; fence: number; expiresAt: number }

/** The reason why a message was not done, for whoever finds it among the dead letters. */
export type MessageFailure = { messageId: string; at: string; code: string; reason: string; receiveCount: number }

/**
 * The ledger as the worker writes it. One worker holds it at a time, by a lease that outlives the worker's own time
 * limit; the journal says what a worker was about to send, so that its successor knows after a death.
 */
export type Ledger = {
  /** Takes the lease if it is free or expired, with the journal that the last holder left. */
  open(claim: LeaseClaim): Promise<{ fence: number; journal: OutgoingLimit[] } | { heldBy: string; until: number }>
  /** Replaces the journal. @throws FatalError `lease_lost` when another worker has taken over. */
  journal(lease: LedgerLease, outgoing: OutgoingLimit[]): Promise<void>
  /** Empties the journal and gives the lease up. @throws FatalError `lease_lost` */
  close(lease: LedgerLease): Promise<void>
  /** Reads states consistently; an address that was never sent is missing. */
  states(identities: Iterable<string>): Promise<Map<string, LimitState>>
  /** Reads the outcomes that are recorded under these keys (see `outcomeKey`). */
  outcomes(keys: OutcomeKey[]): Promise<Map<string, LimitOutcome>>
  /** Records outcomes, then states: a state that is not pending has its outcome. A repetition overwrites itself. */
  record(entries: { outcomes: LimitOutcome[]; states: LimitState[]; recordedAt: number; callId: string }): Promise<void>
  /** Keeps why messages failed. */
  noteFailures(failures: MessageFailure[]): Promise<void>
}

/** The ledger as people and the lake read it. */
export type LedgerReader = {
  /** Reads all addresses; those in the journal are pending. */
  allStates(): AsyncIterable<LimitState>
  /** Reads like `Ledger.states`, with what a worker is sending or has left unanswered as pending. */
  statesWithPending(identities: Iterable<string>): Promise<Map<string, LimitState>>
  /** Reads like `Ledger.outcomes`. */
  outcomes(keys: OutcomeKey[]): Promise<Map<string, LimitOutcome>>
  /** Reads the outcomes of one address, newest request first; the first `most` of them. */
  outcomesOf(identity: string, most?: number): Promise<LimitOutcome[]>
  /**
   * A page of the log: outcomes recorded after a place (a time in ISO 8601, or where the page before it ended) and before
   * a time (Unix ms), at least `count` of them while there are. `next` is where the page ends; null at the end.
   */
  outcomesAfter(place: string, until: number, count: number): Promise<{ outcomes: LimitOutcome[]; next: string | null }>
  /** Reads outcomes recorded from a time (Unix ms) up to before another; each entry once, with its last outcome. */
  outcomesBetween(from: number, to: number): AsyncIterable<LimitOutcome>
  /** Reads those of them that failed. */
  failedBetween(from: number, to: number): AsyncIterable<LimitOutcome>
  /** Names the turn of the last worker; null while one is at work. Between two equal ones the ledger did not change. */
  turn(): Promise<string | null>
  /** Reads why messages failed, by message id. */
  failures(messageIds: string[]): Promise<Map<string, MessageFailure>>
}

/** A message on its way to the queue. */
export type OutgoingMessage = { id: string; body: string; groupId: string; deduplicationId: string }

/** Messages that a queue took, under its own names, and those that it did not; by `senderFault` it never will. */
export type SentBatch = {
  taken: { id: string; messageId: string }[]
  refused: { id: string; code: string; senderFault: boolean }[]
}

/** The queue of intents, as publishers see it. */
export type IntentQueue = {
  /** Sends at most 10 messages. */
  sendBatch(messages: OutgoingMessage[]): Promise<SentBatch>
}

/** The pauses of messages that failed: each is handed out again when its own is over, not after the queue's timeout. */
export type MessagePauses = {
  /** Sets the pauses of at most 10 messages. */
  set(messages: { receiptHandle: string; pauseMs: number }[]): Promise<void>
}

/** The size of a file in the inbox, and the tag that tells its bytes from those that may replace them. */
export type InboxFileHead = { bytes: number; etag: string }

/** A file in the inbox that was not dealt with. `droppedAt` is Unix ms. */
export type WaitingFile = { key: string; droppedAt: number }

/** The inbox as those see it who look whether it is emptied. */
export type InboxListing = {
  /** Lists the files that are to be imported, in any order. */
  waiting(): Promise<WaitingFile[]>
}

/** The bucket into which files with credit limits are dropped. A file may be larger than the memory. */
export type Inbox = {
  /** Looks at a file without reading it; null when there is none. */
  head(key: string): Promise<InboxFileHead | null>
  /** Reads a file; null when there is none. */
  get(key: string): Promise<Uint8Array | null>
  /** Writes the whole file or nothing. */
  put(key: string, bytes: Uint8Array, options: { contentType: string }): Promise<void>
  /** Copies a file of up to 5 GB, if it still is the one that `etag` names. */
  copy(from: string, to: string, etag: string): Promise<void>
  /** Removes files; one that does not exist counts as removed. */
  remove(keys: readonly string[]): Promise<void>
}

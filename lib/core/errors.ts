/**
 * Errors are named for what the caller should do, not for where they arose. The message says what happened, to what,
 * and what to do next; it never holds a credential or a record's values.
 */

/** Why something failed, for code that must branch and for operators who search logs. Stable: alarms match on it. */
export type ErrorCode =
  | 'approval_not_possible'
  | 'bad_pagination'
  | 'bad_request'
  | 'configuration'
  | 'conservation_broken'
  | 'damaged_state'
  | 'disk_full'
  | 'forbidden'
  | 'lease_lost'
  | 'not_found'
  | 'outcome_unknown'
  | 'page_token_refused'
  | 'partial_answer'
  | 'publish_backlog'
  | 'rate_limited'
  | 'redirected'
  | 'server_error'
  | 'stalled_list'
  | 'storage_unavailable'
  | 'time_is_up'
  | 'timeout'
  | 'too_large'
  | 'unauthorized'
  | 'unexpected_body'
  | 'unreachable'
  | 'usage'

type Options = { code: ErrorCode; cause?: unknown; retryAfterMs?: number; status?: number }

/** The base of every error this project throws on purpose. */
export abstract class SyncError extends Error {
  /** What the caller should do: try again, write the one thing down and go on, or stop. */
  abstract readonly action: 'retry' | 'reject' | 'stop'
  readonly code: ErrorCode
  /** How long the other side asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** HTTP status, when an answer caused this. */
  readonly status: number | undefined

  constructor(message: string, { code, cause, retryAfterMs, status }: Options) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.status = status
  }
}

/** Trying again later may work: 429, 5xx, network, timeout, cut-off body, throttled storage. */
export class RetryableError extends SyncError {
  // A name of its own: a bundler shortens that of the class.
  override readonly name = 'RetryableError'
  readonly action = 'retry'
}

/** This one record, request or e-mail address is bad: write it down and go on with the others. */
export class RejectedError extends SyncError {
  override readonly name = 'RejectedError'
  readonly action = 'reject'
}

/** Waiting won't help: credentials, a changed API, a stalled list, a lost lease. The message says what to do. */
export class FatalError extends SyncError {
  override readonly name = 'FatalError'
  readonly action = 'stop'
}

/** The text of anything that was thrown, for a log line or a status. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

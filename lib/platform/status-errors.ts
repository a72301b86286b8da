import { type ErrorCode, FatalError, RejectedError, RetryableError, type SyncError } from '../core/errors.ts'

type Meaning = {
  readonly error: new (
    message: string,
    options: { code: ErrorCode; status: number; retryAfterMs?: number },
  ) => SyncError
  readonly code: ErrorCode
  readonly next: string
}

/**
 * What each HTTP status means for the caller. The v0 statuses are "not shown" (§7), so that this follows their general
 * meaning. It is the only place that knows statuses.
 */
const meanings: readonly [matches: (status: number) => boolean, meaning: Meaning][] = [
  [
    (status) => status === 400 || status === 422,
    { error: RejectedError, code: 'bad_request', next: 'Correct the request; repeating it as it is will fail again.' },
  ],
  [
    (status) => status === 401,
    {
      error: FatalError,
      code: 'unauthorized',
      next:
        'The credential is missing, wrong or revoked: make a key on the page /settings/api-keys of the platform, ' +
        'store it where PLATFORM_API_KEY or PLATFORM_SECRET_ID says, and check it with "platform-sync doctor".',
    },
  ],
  [
    (status) => status === 403,
    {
      error: FatalError,
      code: 'forbidden',
      next: 'The credential may not use this endpoint, or it is not enabled for the organization: ask its administrator.',
    },
  ],
  [
    (status) => status === 404 || status === 410,
    {
      error: RejectedError,
      code: 'not_found',
      next: 'Check the id, and the platform address with "platform-sync doctor".',
    },
  ],
  [
    (status) => status === 407,
    {
      error: FatalError,
      code: 'unreachable',
      next: 'A proxy on the way wants a user and a password: set them in HTTPS_PROXY and HTTP_PROXY, http://user:password@host:port.',
    },
  ],
  [(status) => status === 408, { error: RetryableError, code: 'timeout', next: 'Try again later.' }],
  [
    (status) => status === 429,
    { error: RetryableError, code: 'rate_limited', next: 'Try again when the rate limit allows it.' },
  ],
  [
    (status) => status >= 500,
    { error: RetryableError, code: 'server_error', next: 'The platform has a problem of its own: try again later.' },
  ],
  [
    (status) => status >= 400,
    {
      error: FatalError,
      code: 'bad_request',
      next: 'This status is not expected here: check the platform address with "platform-sync doctor", and report it.',
    },
  ],
  [
    (status) => status >= 300,
    { error: FatalError, code: 'redirected', next: 'Set the platform address to where the API really is.' },
  ],
  [
    () => true,
    {
      error: FatalError,
      code: 'unexpected_body',
      next: 'Only 200 and 201 bring data (§7): the API has changed, or something else answers at this address.',
    },
  ],
]

/** Whether a status brings data: 200, and 201 where a session is created (§7). */
export function isSuccess(status: number): boolean {
  return status === 200 || status === 201
}

/** A refusal that says when to come back is a wait, whatever its status: rate limits answer 403 and 503, too. */
const limited: Meaning = {
  error: RetryableError,
  code: 'rate_limited',
  next: 'Try again when the rate limit allows it.',
}

/** A refused credential is no wait. */
function isWait(status: number, retryAfterMs: number | undefined): boolean {
  return retryAfterMs !== undefined && status >= 400 && status !== 401 && status !== 407
}

/** The error of a status that is no success. `what` names the request ("GET /api/v0/sessions"), `said` is what the body says in words. */
export function errorOfStatus(
  status: number,
  { what, said, retryAfterMs }: { what: string; said: string; retryAfterMs: number | undefined },
): SyncError {
  const meaning = meanings.find(([matches]) => matches(status))![1]
  const { error, code, next } = isWait(status, retryAfterMs) ? limited : meaning
  return new error(`${what} was answered with status ${status}. ${next}${said === '' ? '' : ` The answer: ${said}`}`, {
    code,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

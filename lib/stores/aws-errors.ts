import { diskFaultName } from '../core/disk-fault.ts'
import { FatalError, messageOf, RetryableError, SyncError } from '../core/errors.ts'

/** What a call to AWS is about, for its error's message, and the lease that bounds it. */
export type CallContext = {
  /** As in "write 25 current records to table x". */
  what: string
  signal?: AbortSignal | undefined
}

type AwsError = Error & {
  code?: string
  $metadata?: { httpStatusCode?: number }
  $retryable?: { throttling?: boolean }
}

const missing = new Set([
  'EntityNotFoundException',
  'ResourceNotFoundException',
  'NoSuchBucket',
  'QueueDoesNotExist',
  'NotFoundException',
])
const denied = new Set(['AccessDenied', 'AccessDeniedException', 'KMSAccessDeniedException', 'AllAccessDisabled'])
const credentials = new Set([
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
])
const busy = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
  'TransactionInProgressException',
  'ConditionalRequestConflict',
  'OperationAborted',
])
const network = /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_STREAM|ERR_HTTP2)/

/** Whether a conditional write did not happen because its condition did not hold. */
export function isConditionFailure(error: unknown): boolean {
  return (
    error instanceof Error && (error.name === 'ConditionalCheckFailedException' || error.name === 'PreconditionFailed')
  )
}

/** Whether an error says that the one object or item asked for does not exist. */
export function isMissingKey(error: unknown): boolean {
  return error instanceof Error && error.name === 'NoSuchKey'
}

/**
 * The project's error for what an AWS client threw: throttling, 5xx and network trouble are worth another try; missing
 * resources, missing rights and bad credentials are not, and their message says what to create or to check. A failed
 * condition and a bug of ours come back as they are.
 */
export function storageError(error: unknown, { what, signal }: CallContext): unknown {
  if (error instanceof SyncError || isConditionFailure(error)) return error
  if (signal?.aborted) {
    const message = `stopped before the end of "${what}": the lease on the stream ran out, and another worker goes on`
    return new FatalError(message, { code: 'lease_lost', cause: error })
  }
  if (!(error instanceof Error)) return error
  const { name, code = '', $metadata, $retryable } = error as AwsError
  const status = $metadata?.httpStatusCode ?? 0
  const fatal = (errorCode: 'configuration' | 'forbidden' | 'bad_request', advice: string) =>
    new FatalError(`can't ${what}: ${messageOf(error)} (${name}). ${advice}`, { code: errorCode, cause: error, status })

  // An emulator's disk refused it: the message says all that there is to say.
  if (name === diskFaultName) return new FatalError(messageOf(error), { code: 'disk_full', cause: error, status })
  if (missing.has(name)) {
    return fatal('configuration', 'Deploy the stateful stack, or set the variable that names the table or bucket.')
  }
  if (credentials.has(name)) return fatal('configuration', 'Check the AWS credentials and AWS_REGION.')
  if (busy.has(name) || $retryable || status >= 500 || status === 429 || network.test(code)) {
    const message = `can't ${what} now: ${messageOf(error)} (${name}). The next attempt goes on from the checkpoint`
    return new RetryableError(message, { code: 'storage_unavailable', cause: error, status })
  }
  if (denied.has(name) || status === 403) {
    return fatal('forbidden', "Grant the caller's role this action, or check the AWS credentials.")
  }
  return status >= 400 ? fatal('bad_request', 'This is a defect of the worker; please report it.') : error
}

/** Runs a call to AWS and turns what it throws into this project's errors. */
export async function callAws<T>(context: CallContext, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw storageError(error, context)
  }
}

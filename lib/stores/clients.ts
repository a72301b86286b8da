import { NodeHttpHandler } from '@smithy/node-http-handler'

/** Credentials of AWS. Those of a role have a session token, without which the other two are refused. */
export type AwsCredentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

/**
 * The place of AWS: a region, and on a laptop the address of the emulators. Without credentials the SDK looks for them by
 * itself: in the environment, in files, at the role of a function.
 */
export type AwsTarget = {
  region: string
  endpointUrl?: string | undefined
  credentials?: AwsCredentials | undefined
  /** The time that an answer may take to begin, or its body may stall. */
  timeoutMs?: number
}

/** The settings of every client of AWS, whatever its service. Each client gets connections of its own. */
export function clientSettings({ region, endpointUrl, credentials, timeoutMs = 60_000 }: AwsTarget) {
  return {
    region,
    maxAttempts: 5,
    ...(endpointUrl ? { endpoint: endpointUrl } : {}),
    ...(credentials ? { credentials } : {}),
    requestHandler: new NodeHttpHandler({
      connectionTimeout: 5_000,
      requestTimeout: timeoutMs,
      // Without this an answer that never comes is only warned of; the socket's timeout is for a body that stalls.
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
      httpsAgent: { maxSockets: 64 },
    }),
  }
}

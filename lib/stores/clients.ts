import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'

/** Where AWS is: a region, and on a laptop the address of the emulators. Credentials come from the SDK's chain by default. */
export type AwsTarget = {
  region: string
  endpointUrl?: string | undefined
  credentials?: { accessKeyId: string; secretAccessKey: string }
  /** How long an answer may take to begin, or its body may stall. */
  timeoutMs?: number
}

/** The AWS clients that the stores work with. */
export type AwsClients = { dynamodb: DynamoDBClient; s3: S3Client; destroy(): void }

/**
 * Clients for AWS, or for the emulators at an endpoint. An emulator knows neither bucket host names nor the checksum
 * trailers that newer SDKs add, so those two defaults are only kept on AWS.
 */
export function createAwsClients({ region, endpointUrl, credentials, timeoutMs = 60_000 }: AwsTarget): AwsClients {
  const common = {
    region,
    maxAttempts: 5,
    ...(endpointUrl ? { endpoint: endpointUrl } : {}),
    ...(credentials ? { credentials } : {}),
  }
  const handler = () =>
    new NodeHttpHandler({
      connectionTimeout: 5_000,
      requestTimeout: timeoutMs,
      // Without this an answer that never comes is only warned of; the socket's timeout is for a body that stalls.
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
      httpsAgent: { maxSockets: 64 },
    })
  const dynamodb = new DynamoDBClient({ ...common, requestHandler: handler() })
  const s3 = new S3Client({
    ...common,
    requestHandler: handler(),
    ...(endpointUrl
      ? {
          forcePathStyle: true,
          requestChecksumCalculation: 'WHEN_REQUIRED',
          responseChecksumValidation: 'WHEN_REQUIRED',
        }
      : {}),
  })
  const destroy = () => {
    dynamodb.destroy()
    s3.destroy()
  }
  return { dynamodb, s3, destroy }
}

import { SQSClient } from '@aws-sdk/client-sqs'
import { type AwsTarget, clientSettings } from './clients.ts'

/** A client for SQS, or for the emulator at an endpoint: its queues' addresses name hosts that do not exist. */
export function createSqs(target: AwsTarget): SQSClient {
  return new SQSClient({ ...clientSettings(target), ...(target.endpointUrl ? { useQueueUrlAsEndpoint: false } : {}) })
}

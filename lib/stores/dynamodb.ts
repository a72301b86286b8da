import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type AwsTarget, clientSettings } from './clients.ts'

/** A client for DynamoDB, or for the emulator at an endpoint. */
export function createDynamoDb(target: AwsTarget): DynamoDBClient {
  return new DynamoDBClient(clientSettings(target))
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { AwsTarget } from './clients.ts'
import { createDynamoDb } from './dynamodb.ts'
import { createS3 } from './s3.ts'

/** The clients for tables and objects, where everything lies that is kept. */
export type StorageClients = { dynamodb: DynamoDBClient; s3: S3Client; destroy(): void }

/** Opens both clients at one target. */
export function createStorageClients(target: AwsTarget): StorageClients {
  const [dynamodb, s3] = [createDynamoDb(target), createS3(target)]
  return {
    dynamodb,
    s3,
    destroy: () => {
      dynamodb.destroy()
      s3.destroy()
    },
  }
}

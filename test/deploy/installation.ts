import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { type Account, called } from './emulator.ts'
import { warningsSince } from './logs.ts'
import { secretOf } from './stacks.ts'

/** A current record as DynamoDB holds it. */
export type Held = { key: string; body: string; changedAt: number; deletedAt: number | null }

/** What a test does with a deployed installation, as an operator or the platform's data would. */
export type Installation = {
  putApiKey(key: string): Promise<void>
  /**
   * Runs the state machine as the nightly schedule does, and waits for its end.
   * @throws Error unless it succeeded: with its error and cause, and what functions warned of.
   */
  night(scheduledAt: string, streams: readonly string[]): Promise<void>
  /** @throws Error when the function failed: with its error, and what functions warned of. */
  invoke(name: string, event?: unknown): Promise<unknown>
  drop(name: string, text: string): Promise<void>
  /** Names of the objects in a bucket, below a prefix. */
  list(bucket: 'lake' | 'audit' | 'inbox', prefix: string): Promise<string[]>
  read(bucket: 'lake' | 'audit' | 'inbox', key: string): Promise<Uint8Array>
  /** The records of a stream that are not deleted. */
  records(stream: string): Promise<Held[]>
  close(): void
}

/** An installation under its name, in an account. */
export function installationIn(account: Account, name: string): Installation {
  const { endpoint } = account
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const options = { endpoint, region: called.region, credentials }
  const s3 = new S3Client({ ...options, forcePathStyle: true })
  const dynamodb = new DynamoDBClient(options)
  const secrets = new SecretsManagerClient(options)
  const machines = new SFNClient(options)
  const lambda = new LambdaClient(options)
  const bucketOf = (bucket: string) => `${name}-${bucket}-${called.id}-${called.region}`
  const failureSince = async (time: number, message: string) =>
    new Error([message, ...(await warningsSince(time, account, name))].join('\n'))
  const machineArn = `arn:aws:states:${called.region}:${called.id}:stateMachine:${name}-sync`

  return {
    putApiKey: async (key) =>
      void (await secrets.send(new CreateSecretCommand({ Name: secretOf(name), SecretString: key }))),
    night: async (scheduledAt, streams) => {
      const input = JSON.stringify({ schedule: 'nightly', scheduledAt, streams })
      const begun = Date.now()
      const { executionArn } = await machines.send(new StartExecutionCommand({ stateMachineArn: machineArn, input }))
      for (;;) {
        const { status, error, cause } = await machines.send(new DescribeExecutionCommand({ executionArn }))
        if (status === 'SUCCEEDED') return
        if (status !== 'RUNNING') throw await failureSince(begun, `The night ended as ${status}: ${error}: ${cause}`)
        await sleep(250)
      }
    },
    invoke: async (functionName, event = {}) => {
      const Payload = Buffer.from(JSON.stringify(event))
      const begun = Date.now()
      const answer = await lambda.send(new InvokeCommand({ FunctionName: `${name}-${functionName}`, Payload }))
      const text = Buffer.from(answer.Payload ?? []).toString()
      if (answer.FunctionError) throw await failureSince(begun, `${functionName} failed: ${text}`)
      return JSON.parse(text || 'null')
    },
    drop: async (key, text) =>
      void (await s3.send(new PutObjectCommand({ Bucket: bucketOf('inbox'), Key: key, Body: text }))),
    list: async (bucket, prefix) => {
      const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: bucketOf(bucket), Prefix: prefix }))
      return (Contents ?? []).map(({ Key }) => Key ?? '')
    },
    read: async (bucket, key) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucketOf(bucket), Key: key }))
      if (!Body) throw new Error(`${key} has no body`)
      return Body.transformToByteArray()
    },
    records: async (stream) => {
      const held: Held[] = []
      for await (const { Items } of paginateScan({ client: dynamodb }, { TableName: `${name}-records` })) {
        for (const item of Items ?? []) {
          const [of, ...key] = (item.pk?.S ?? '').split('#')
          if (of !== stream || item.deletedAt?.N) continue
          held.push({
            key: key.join('#'),
            body: item.body?.S ?? '',
            changedAt: Number(item.changedAt?.N),
            deletedAt: null,
          })
        }
      }
      return held
    },
    close: () => {
      for (const client of [s3, dynamodb, secrets, machines, lambda]) client.destroy()
    },
  }
}

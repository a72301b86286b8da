import { Aws, Stack, Validations } from 'aws-cdk-lib'
import { warehouseTables } from '../../lib/stores/glue-table.ts'
import { lakeBucket, recordsTable, stateTable, type TableShape } from '../../lib/stores/resources.ts'
import { streams } from '../../lib/streams/index.ts'
import type { Names } from '../names.ts'
import type { WorkerFunction } from './worker-function.ts'

type Resources = { names: Names; keyArn: string; database: string; eventBus: string; platformSecret: string }

/**
 * What each function may do, action by action. Reading an object that may be missing needs s3:ListBucket: without it S3
 * says "forbidden" instead of "not there".
 */
export const grantSyncStream = (sync: WorkerFunction, { names, keyArn, platformSecret }: Resources): void => {
  const { table, objects, bucket, secret } = arns(sync, names)
  sync.allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], table(stateTable))
  // Scan for the keys, when a stream's index is lost.
  const recordActions = ['BatchGetItem', 'BatchWriteItem', 'Scan', 'UpdateItem'].map((action) => `dynamodb:${action}`)
  sync.allow(recordActions, table(recordsTable))
  sync.allow(['s3:PutObject', 's3:AbortMultipartUpload'], ...objects('changes', 'quarantine', 'index', 'bodies'))
  sync.allow(['s3:GetObject'], ...objects('index'))
  sync.allow(['s3:ListBucket'], bucket)
  sync.allow(['secretsmanager:GetSecretValue'], secret(platformSecret), secret(names.redactionSecret))
  sync.allow(useKey, keyArn)
}

/** Publishing reads and removes working objects, and writes manifests, the catalog and one event. */
export const grantPublishRun = (publish: WorkerFunction, resources: Resources): void => {
  const { names, keyArn, database, eventBus } = resources
  const { table, objects, bucket, glue, bus } = arns(publish, names)
  publish.allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], table(stateTable))
  publish.allow(['s3:GetObject'], ...objects('index', 'manifests'))
  publish.allow(['s3:PutObject'], ...objects('manifests'))
  publish.allow(['s3:DeleteObject'], ...objects('changes', 'quarantine', 'index'))
  publish.allow(['s3:ListBucket'], bucket)
  const catalogTables = warehouseTables(streams).map(({ table: { name } }) => glue(`table/${database}/${name}`))
  publish.allow(['glue:BatchCreatePartition'], glue('catalog'), glue(`database/${database}`), ...catalogTables)
  publish.allow(['events:PutEvents'], bus(eventBus))
  publish.allow(useKey, keyArn)
}

/** What DynamoDB and S3 do with the key in the caller's name. */
const useKey = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
]

const arns = (scope: WorkerFunction, names: Names) => {
  const stack = Stack.of(scope)
  const bucket = stack.formatArn({
    service: 's3',
    resource: names.bucket(lakeBucket),
    region: '',
    account: '',
  })
  return {
    bucket,
    objects: (...folders: string[]) => folders.map((folder) => objectsIn(scope, bucket, folder)),
    table: (shape: TableShape) => arn(stack, 'dynamodb', `table/${names.table(shape)}`),
    glue: (resource: string) => arn(stack, 'glue', resource),
    bus: (name: string) => arn(stack, 'events', `event-bus/${name}`),
    // Secrets Manager adds a hyphen and six characters to the name.
    secret: (name: string) => arn(stack, 'secretsmanager', `secret:${name}-??????`),
  }
}

/** The folders of the bucket are the finest grain there is: the names of objects come from runs. */
const objectsIn = (scope: WorkerFunction, bucket: string, folder: string): string => {
  const pattern = `${bucket}/${folder}/*`
  const asReported = pattern
    .replace(Stack.of(scope).partition, '<AWS::Partition>')
    .replace(Aws.ACCOUNT_ID, '<AWS::AccountId>')
    .replace(Aws.REGION, '<AWS::Region>')
  Validations.of(scope.role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${asReported}]`,
    reason: `Keys below ${folder}/ are made at run time.`,
  })
  return pattern
}

const arn = ({ partition, region, account }: Stack, service: string, resource: string): string =>
  `arn:${partition}:${service}:${region}:${account}:${resource}`

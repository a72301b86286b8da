import { Aws, Stack, Validations } from 'aws-cdk-lib'
import { hooksFolder } from '../../lib/hooks/collector/places.ts'
import { icebergNames } from '../../lib/publish/iceberg/tables.ts'
import { warehouseTables } from '../../lib/stores/catalog.ts'
import { hooksTable } from '../../lib/stores/hook-claims.ts'
import { hookQueue } from '../../lib/stores/hook-queue.ts'
import { limitsTable } from '../../lib/stores/ledger-items.ts'
import { limitsQueue, type QueueShape } from '../../lib/stores/limits-queue.ts'
import { publisherPartition } from '../../lib/stores/publications.ts'
import { ratePartition } from '../../lib/stores/rates.ts'
import {
  auditBucket,
  type BucketShape,
  inboxBucket,
  lakeBucket,
  recordsTable,
  stateTable,
  type TableShape,
} from '../../lib/stores/resources.ts'
import { streams } from '../../lib/streams/index.ts'
import type { Names } from '../names.ts'
import type { WorkerFunction } from './worker-function.ts'

/** What grants need to know besides names. */
export type Resources = {
  names: Names
  keyArn: string
  signingKeyArn: string
  database: string
  eventBus: string
  platformSecret: string
  /** The key of the secrets that people made, where they chose one. */
  secretsKeyArn: string | undefined
}

/**
 * What each function may do, action by action. Reading an object that may be missing needs s3:ListBucket: without it S3
 * says "forbidden" instead of "not there".
 */
export function grantSyncStream(sync: WorkerFunction, resources: Resources): void {
  const { names, keyArn, platformSecret } = resources
  const { table, objects, bucket, secret } = arns(sync, names)
  sync.allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], table(stateTable))
  // Scan for the keys, when a stream's index is lost.
  const recordActions = ['BatchGetItem', 'BatchWriteItem', 'Scan', 'UpdateItem'].map((action) => `dynamodb:${action}`)
  sync.allow(recordActions, table(recordsTable))
  sync.allow(['dynamodb:BatchGetItem', 'dynamodb:Query'], table(limitsTable))
  sync.allow(
    ['s3:PutObject', 's3:AbortMultipartUpload'],
    ...objects(lakeBucket, 'changes', 'quarantine', 'index', 'bodies'),
  )
  // What a scan wrote that was given up goes before another one begins.
  sync.allow(['s3:DeleteObject'], ...objects(lakeBucket, 'changes', 'quarantine'))
  sync.allow(['s3:GetObject'], ...objects(lakeBucket, 'index', 'bodies', hooksFolder))
  sync.allow(['s3:ListBucket'], bucket(lakeBucket))
  sync.allow(['secretsmanager:GetSecretValue'], secret(names.redactionSecret))
  grantGivenSecret(sync, resources, platformSecret)
  sync.allow(useKey, keyArn)
  grantRecording(sync, resources)
}

/** Publishing merges what was flushed and removes it, and writes manifests, the catalog and one event. */
export function grantPublishRun(publish: WorkerFunction, resources: Resources): void {
  const { names, keyArn, database, eventBus } = resources
  const { table, objects, bucket, glue, bus } = arns(publish, names)
  publish.allow(['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], table(stateTable))
  const kept = ['changes', 'iceberg', 'manifests', 'quarantine', 'runs'] as const
  publish.allow(['s3:GetObject'], ...objects(lakeBucket, ...kept, 'index'))
  publish.allow(['s3:PutObject', 's3:AbortMultipartUpload'], ...objects(lakeBucket, ...kept))
  publish.allow(['s3:DeleteObject'], ...objects(lakeBucket, 'changes', 'iceberg', 'quarantine', 'index'))
  publish.allow(['s3:ListBucket'], bucket(lakeBucket))
  const catalogTables = warehouseTables(streams).map(({ table: { name } }) => glue(`table/${database}/${name}`))
  publish.allow(['glue:BatchCreatePartition'], glue('catalog'), glue(`database/${database}`), ...catalogTables)
  const iceberg = names.icebergDatabase
  const icebergTables = icebergNames(streams).map((name) => glue(`table/${iceberg}/${name}`))
  const icebergActions = ['glue:CreateTable', 'glue:GetTable', 'glue:UpdateTable']
  publish.allow(icebergActions, glue('catalog'), glue(`database/${iceberg}`), ...icebergTables)
  publish.allow(['events:PutEvents'], bus(eventBus))
  publish.allow(useKey, keyArn)
}

/** The nightly page is made from what is published, and written to its own folder. */
export function grantWriteReport(report: WorkerFunction, { names, keyArn }: Resources): void {
  const { table, objects, bucket, glue } = arns(report, names)
  report.allow(['dynamodb:Query'], table(stateTable))
  report.allowItems(['dynamodb:GetItem'], { table: table(stateTable), partition: publisherPartition })
  report.allow(['s3:GetObject'], ...objects(lakeBucket, 'changes', 'iceberg', 'manifests', 'quarantine'))
  report.allow(['s3:PutObject', 's3:AbortMultipartUpload'], ...objects(lakeBucket, 'reports'))
  report.allow(['s3:ListBucket'], bucket(lakeBucket))
  const iceberg = names.icebergDatabase
  const icebergTables = icebergNames(streams).map((name) => glue(`table/${iceberg}/${name}`))
  report.allow(['glue:GetTable'], glue('catalog'), glue(`database/${iceberg}`), ...icebergTables)
  report.allow(useKey, keyArn)
}

/** Applying reads messages, shares the rate at which the platform is asked, and sends none: a function that feeds its own queue is stopped by Lambda after 16 turns. */
export function grantApplyLimits(apply: WorkerFunction, resources: Resources): void {
  const { names, keyArn, platformSecret } = resources
  const { table, queue } = arns(apply, names)
  apply.allow(
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'],
    queue(limitsQueue),
  )
  apply.allow(
    ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:BatchGetItem', 'dynamodb:BatchWriteItem'],
    table(limitsTable),
  )
  apply.allowItems(['dynamodb:GetItem', 'dynamodb:UpdateItem'], { table: table(stateTable), partition: ratePartition })
  grantGivenSecret(apply, resources, platformSecret)
  apply.allow(useKey, keyArn)
}

/** Importing takes files out of the inbox, compares them with the ledger, and sends messages. */
export function grantImportLimits(imports: WorkerFunction, { names, keyArn }: Resources): void {
  const { table, queue, objects, bucket } = arns(imports, names)
  imports.allow(['s3:GetObject', 's3:DeleteObject'], ...objects(inboxBucket, null))
  imports.allow(['s3:PutObject', 's3:AbortMultipartUpload'], ...objects(inboxBucket, 'done', 'failed'))
  imports.allow(['s3:ListBucket'], bucket(inboxBucket))
  imports.allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem'], table(limitsTable))
  imports.allow(['sqs:SendMessage'], queue(limitsQueue))
  imports.allow(useKey, keyArn)
}

/** Keeping a policy reads who the users are, compares it with the ledger, keeps its plans, and sends messages. */
export function grantApplyPolicy(policy: WorkerFunction, { names, keyArn }: Resources): void {
  const { table, queue, objects, bucket } = arns(policy, names)
  policy.allow(['dynamodb:GetItem'], table(stateTable))
  policy.allow(['dynamodb:BatchGetItem'], table(recordsTable))
  // Scan once, when nothing is remembered yet: whoever has a limit may have left before the policy came.
  policy.allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Scan'], table(limitsTable))
  policy.allow(['s3:GetObject'], ...objects(lakeBucket, 'index', 'bodies'))
  policy.allow(['s3:GetObject'], ...objects(inboxBucket, 'policy', 'policy-plans', 'policy-approvals'))
  policy.allow(['s3:PutObject', 's3:AbortMultipartUpload'], ...objects(inboxBucket, 'policy-plans'))
  policy.allow(['s3:ListBucket'], bucket(lakeBucket), bucket(inboxBucket))
  policy.allow(['sqs:SendMessage', 'sqs:GetQueueAttributes'], queue(limitsQueue))
  policy.allow(useKey, keyArn)
}

/** Collecting reads the tokens and sends messages, and nothing else: it is what strangers can reach. */
export function grantCollectHooks(collect: WorkerFunction, resources: Resources, tokens: string): void {
  const { names, keyArn } = resources
  const { queue } = arns(collect, names)
  collect.allow(['sqs:SendMessage'], queue(hookQueue))
  grantGivenSecret(collect, resources, tokens)
  collect.allow(['kms:Decrypt', 'kms:GenerateDataKey'], keyArn)
}

/** Storing takes messages, claims events and writes its own folder of the lake. */
export function grantStoreHooks(store: WorkerFunction, { names, keyArn }: Resources): void {
  const { table, queue, objects, bucket, secret } = arns(store, names)
  store.allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queue(hookQueue))
  store.allow(['dynamodb:GetItem', 'dynamodb:PutItem'], table(hooksTable))
  store.allow(['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], ...objects(lakeBucket, hooksFolder))
  store.allow(['s3:ListBucket'], bucket(lakeBucket))
  store.allow(['secretsmanager:GetSecretValue'], secret(names.redactionSecret))
  store.allow(useKey, keyArn)
}

/** The daily digest reads the whole trail and appends to it. */
export function grantAuditDigest(digest: WorkerFunction, resources: Resources): void {
  const { table, objects, bucket } = arns(digest, resources.names)
  digest.allow(['dynamodb:GetItem'], table(stateTable))
  digest.allow(['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], ...objects(lakeBucket, 'index/audit'))
  digest.allow(['s3:ListBucket'], bucket(lakeBucket))
  digest.allow(useKey, resources.keyArn)
  grantRecording(digest, resources)
}

/** Appending to the audit trail: its head, its objects, what is staged for it, and its signature. Nobody may remove an object. */
function grantRecording(recorder: WorkerFunction, { names, signingKeyArn }: Resources): void {
  const { table, objects, bucket } = arns(recorder, names)
  recorder.allow(['dynamodb:PutItem'], table(stateTable))
  recorder.allow(['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'], ...objects(auditBucket, 'audit'))
  recorder.allow(['s3:ListBucket'], bucket(auditBucket))
  recorder.allow(['s3:DeleteObject'], ...objects(lakeBucket, 'index/audit/staged'))
  recorder.allow(['kms:GetPublicKey', 'kms:Sign'], signingKeyArn)
}

/** Reading a secret that people made, with the key under which they put it. */
function grantGivenSecret(reader: WorkerFunction, { names, secretsKeyArn }: Resources, name: string): void {
  reader.allow(['secretsmanager:GetSecretValue'], arns(reader, names).secret(name))
  if (secretsKeyArn) reader.allow(['kms:Decrypt'], secretsKeyArn)
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

function arns(scope: WorkerFunction, names: Names) {
  const stack = Stack.of(scope)
  const bucket = (shape: BucketShape) =>
    stack.formatArn({ service: 's3', resource: names.bucket(shape), region: '', account: '' })
  return {
    bucket,
    /** Objects below folders; null stands for all of the bucket. */
    objects: (shape: BucketShape, ...folders: (string | null)[]) =>
      folders.map((folder) => objectsIn(scope, bucket(shape), folder === null ? '' : `${folder}/`)),
    table: (shape: TableShape) => arn(stack, 'dynamodb', `table/${names.table(shape)}`),
    queue: (shape: QueueShape) => arn(stack, 'sqs', names.queue(shape)),
    glue: (resource: string) => arn(stack, 'glue', resource),
    bus: (name: string) => arn(stack, 'events', `event-bus/${name}`),
    // Secrets Manager adds a hyphen and six characters to the name.
    secret: (name: string) => arn(stack, 'secretsmanager', `secret:${name}-??????`),
  }
}

/** The folders of a bucket are the finest grain there is: the names of objects are made at run time, or by people. */
function objectsIn(scope: WorkerFunction, bucket: string, prefix: string): string {
  const pattern = `${bucket}/${prefix}*`
  const asReported = pattern
    .replace(Stack.of(scope).partition, '<AWS::Partition>')
    .replace(Aws.ACCOUNT_ID, '<AWS::AccountId>')
    .replace(Aws.REGION, '<AWS::Region>')
  Validations.of(scope.role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${asReported}]`,
    reason: prefix ? `Keys below ${prefix} are made at run time.` : 'Files are named by those who drop them.',
  })
  return pattern
}

function arn({ partition, region, account }: Stack, service: string, resource: string): string {
  return `arn:${partition}:${service}:${region}:${account}:${resource}`
}

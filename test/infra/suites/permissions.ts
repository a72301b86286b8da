import { describe, expect, it } from 'vitest'
import { icebergNames } from '../../../lib/publish/iceberg/tables.ts'
import { ratePartition } from '../../../lib/stores/rates.ts'
import { streams } from '../../../lib/streams/index.ts'
import { tablesOf } from '../../../lib/streams/stream.ts'
import { key, logging, permissionsOf, type Statement, tracing } from '../role-permissions.ts'
import { resolved, synthesize } from '../synthesized.ts'

const { resources } = synthesize()
const collecting = synthesize({ hooks: { enabled: true } })

const signing = ['kms:GetPublicKey on SigningKeyArn', 'kms:Sign on SigningKeyArn']

/** What appending to the audit trail takes; removing is not among it. */
const recording = [
  'dynamodb:PutItem on arn:aws:dynamodb:table/platform-sync-state',
  ...signing,
  's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-audit/audit/*',
  's3:DeleteObject on arn:aws:s3:::platform-sync-lake/index/audit/staged/*',
  's3:GetObject on arn:aws:s3:::platform-sync-audit/audit/*',
  's3:ListBucket on arn:aws:s3:::platform-sync-audit',
  's3:PutObject on arn:aws:s3:::platform-sync-audit/audit/*',
]

describe('what functions may do', () => {
  it('lets sync-stream read its secrets, move its checkpoint, write its own folders of the lake and record settings', () => {
    const permissions = [
      ...recording,
      'dynamodb:BatchGetItem on arn:aws:dynamodb:table/platform-sync-limits',
      'dynamodb:BatchGetItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:Query on arn:aws:dynamodb:table/platform-sync-limits',
      'dynamodb:BatchWriteItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:Scan on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-records',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-state',
      ...key,
      'logs:CreateLogStream on SyncStreamLogs.Arn',
      'logs:PutLogEvents on SyncStreamLogs.Arn',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/bodies/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/index/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/quarantine/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/quarantine/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/bodies/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/hooks/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/bodies/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/quarantine/*',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/api-key-??????',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/redaction-key-??????',
      ...tracing,
    ]
    expect(permissionsOf('SyncStreamRole')).toEqual(permissions.sort())
  })

  it('lets audit-digest append to the audit trail, and read no secret', () => {
    const permissions = [
      ...recording,
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      ...key,
      ...logging('AuditDigest'),
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/index/audit/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/index/audit/*',
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/index/audit/*',
      ...tracing,
    ]
    expect(permissionsOf('AuditDigestRole')).toEqual(permissions.sort())
  })

  it('lets apply-credit-limits take messages and keep the ledger; SQS-03 it sends nothing to its own queue', () => {
    const ledger = ['BatchGetItem', 'BatchWriteItem', 'GetItem', 'UpdateItem'].map(
      (action) => `dynamodb:${action} on arn:aws:dynamodb:table/platform-sync-limits`,
    )
    const messages = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
      (action) => `sqs:${action} on arn:aws:sqs:platform-sync-limits.fifo`,
    )
    const secret = 'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/api-key-??????'
    const rate = ['GetItem', 'UpdateItem'].map(
      (action) => `dynamodb:${action} on arn:aws:dynamodb:table/platform-sync-state`,
    )
    const permissions = [...ledger, ...rate, ...messages, secret, ...key, ...logging('LimitsApply'), ...tracing]
    expect(permissionsOf('LimitsApplyRole')).toEqual(permissions.sort())
  })

  it('lets apply-credit-limits touch one item of the state table, where all workers share the rate of requests', () => {
    const policies = resources('AWS::IAM::Policy').filter(([, { Properties }]) =>
      resolved(Properties.Roles).startsWith('LimitsApplyRole'),
    )
    const statements = policies.flatMap(
      ([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
    )
    const ofState = statements.filter(({ Resource }) => resolved(Resource).endsWith('table/platform-sync-state'))
    const onlyThat = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [ratePartition] } }
    expect(ofState.map(({ Condition }) => Condition)).toEqual([onlyThat])
  })

  it('lets import-credit-limits move files of the inbox, read the ledger and send messages', () => {
    const inbox = 'arn:aws:s3:::platform-sync-inbox'
    const permissions = [
      'dynamodb:BatchGetItem on arn:aws:dynamodb:table/platform-sync-limits',
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-limits',
      ...key,
      ...logging('LimitsImport'),
      ...['done', 'failed'].flatMap((folder) => [
        `s3:AbortMultipartUpload on ${inbox}/${folder}/*`,
        `s3:PutObject on ${inbox}/${folder}/*`,
      ]),
      `s3:DeleteObject on ${inbox}/*`,
      `s3:GetObject on ${inbox}/*`,
      `s3:ListBucket on ${inbox}`,
      'sqs:SendMessage on arn:aws:sqs:platform-sync-limits.fifo',
      ...tracing,
    ]
    expect(permissionsOf('LimitsImportRole')).toEqual(permissions.sort())
  })

  it('lets publish-run merge files, write manifests, partitions and one event, remove parts, and read no secret', () => {
    const tables = streams.flatMap(tablesOf).map(({ name }) => name)
    const on = (action: string, ...folders: string[]) =>
      folders.map((folder) => `s3:${action} on arn:aws:s3:::platform-sync-lake/${folder}/*`)
    const iceberg = icebergNames(streams)
      .toSorted()
      .map((name) => `table/platform_sync_iceberg/${name}`)
    expect(permissionsOf('PublishRunRole')).toEqual([
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:PutItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:Query on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-state',
      'events:PutEvents on arn:aws:events:event-bus/default',
      'glue:BatchCreatePartition on arn:aws:glue:catalog',
      'glue:BatchCreatePartition on arn:aws:glue:database/platform_sync',
      ...tables.sort().map((table) => `glue:BatchCreatePartition on arn:aws:glue:table/platform_sync/${table}`),
      ...['CreateTable', 'GetTable', 'UpdateTable'].flatMap((action) =>
        ['catalog', 'database/platform_sync_iceberg', ...iceberg].map((on) => `glue:${action} on arn:aws:glue:${on}`),
      ),
      ...key,
      'logs:CreateLogStream on PublishRunLogs.Arn',
      'logs:PutLogEvents on PublishRunLogs.Arn',
      ...on('AbortMultipartUpload', 'changes', 'iceberg', 'manifests', 'quarantine', 'runs'),
      ...on('DeleteObject', 'changes', 'iceberg', 'index', 'quarantine'),
      ...on('GetObject', 'changes', 'iceberg', 'index', 'manifests', 'quarantine', 'runs'),
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      ...on('PutObject', 'changes', 'iceberg', 'manifests', 'quarantine', 'runs'),
      ...tracing,
    ])
  })

  it('lets write-report read what is published, how it went and what is behind, write pages, and read no secret and no record', () => {
    const on = (action: string, ...folders: string[]) =>
      folders.map((folder) => `s3:${action} on arn:aws:s3:::platform-sync-lake/${folder}/*`)
    const iceberg = icebergNames(streams).map((name) => `table/platform_sync_iceberg/${name}`)
    const permissions = [
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:Query on arn:aws:dynamodb:table/platform-sync-state',
      ...['catalog', 'database/platform_sync_iceberg', ...iceberg].map((on) => `glue:GetTable on arn:aws:glue:${on}`),
      ...key,
      ...logging('WriteReport'),
      ...on('GetObject', 'changes', 'iceberg', 'manifests', 'quarantine'),
      ...on('AbortMultipartUpload', 'reports'),
      ...on('PutObject', 'reports'),
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      ...tracing,
    ]
    expect(permissionsOf('WriteReportRole')).toEqual(permissions.sort())
  })

  it('lets schedules start the machine and the digest, and the machine call its four functions', () => {
    expect(permissionsOf('AuditRole')).toEqual([
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'lambda:InvokeFunction on AuditDigestFunction.Arn',
      'lambda:InvokeFunction on AuditDigestFunction.Arn:*',
      'sqs:SendMessage on arn:aws:sqs:platform-sync-undelivered-starts',
    ])
    expect(permissionsOf('SchedulesRole')).toEqual([
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'sqs:SendMessage on arn:aws:sqs:platform-sync-undelivered-starts',
      'states:StartExecution on SyncMachine',
    ])
    const calls = permissionsOf('SyncMachineRole').filter((permission) => permission.startsWith('lambda'))
    expect(calls).toEqual([
      'lambda:InvokeFunction on LimitsPolicyFunction.Arn',
      'lambda:InvokeFunction on LimitsPolicyFunction.Arn:*',
      'lambda:InvokeFunction on PublishRunFunction.Arn',
      'lambda:InvokeFunction on PublishRunFunction.Arn:*',
      'lambda:InvokeFunction on SyncStreamFunction.Arn',
      'lambda:InvokeFunction on SyncStreamFunction.Arn:*',
      'lambda:InvokeFunction on WriteReportFunction.Arn',
      'lambda:InvokeFunction on WriteReportFunction.Arn:*',
    ])
  })

  it('lets collect-hook-events read the tokens and send messages, and nothing else', () => {
    const permissions = [
      'kms:Decrypt on KeyArn',
      'kms:GenerateDataKey on KeyArn',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/hook-tokens-??????',
      'sqs:SendMessage on arn:aws:sqs:platform-sync-hook-events',
      ...logging('HooksCollect'),
      ...tracing,
    ]
    expect(permissionsOf('HooksCollectRole', collecting)).toEqual(permissions.sort())
  })

  it('lets store-hook-events take messages, claim events and write its own folder of the lake', () => {
    const messages = ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
      (action) => `sqs:${action} on arn:aws:sqs:platform-sync-hook-events`,
    )
    const permissions = [
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-hooks',
      'dynamodb:PutItem on arn:aws:dynamodb:table/platform-sync-hooks',
      ...key,
      ...messages,
      ...['AbortMultipartUpload', 'GetObject', 'PutObject'].map(
        (action) => `s3:${action} on arn:aws:s3:::platform-sync-lake/hooks/*`,
      ),
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      'secretsmanager:GetSecretValue on arn:aws:secretsmanager:secret:platform-sync/redaction-key-??????',
      ...logging('HooksStore'),
      ...tracing,
    ]
    expect(permissionsOf('HooksStoreRole', collecting)).toEqual(permissions.sort())
  })

  it('gives every resource "*" to those actions alone that know no resources', () => {
    const roles = 'SyncStream PublishRun AuditDigest LimitsApply LimitsImport LimitsPolicy Schedules Audit SyncMachine'
    const wild = `${roles} WriteReport HooksCollect HooksStore`
      .split(' ')
      .map((name) => `${name}Role`)
      .flatMap((role) => permissionsOf(role, collecting))
      .filter((permission) => permission.endsWith(' on *'))
    for (const permission of wild) expect(permission).toMatch(/^(xray|logs):/)
    expect(resources('AWS::IAM::Policy')).toHaveLength(10)
    for (const [, { Properties }] of resources('AWS::IAM::Role')) expect(Properties.ManagedPolicyArns).toBeUndefined()
  })
})

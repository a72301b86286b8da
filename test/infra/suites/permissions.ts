import { describe, expect, it } from 'vitest'
import { ratePartition } from '../../../lib/stores/rates.ts'
import { streams } from '../../../lib/streams/index.ts'
import { tablesOf } from '../../../lib/streams/stream.ts'
import { resolved, synthesize } from '../synthesized.ts'

const { resources } = synthesize()
const collecting = synthesize({ hooks: { enabled: true } })

type Statement = { Action: string | string[]; Resource: unknown; Effect: string; Condition?: unknown }

/** What the role of a function or a service may do: `action on resource`, sorted. */
function permissionsOf(role: string, { resources: all } = { resources }): string[] {
  const policies = all('AWS::IAM::Policy').filter(([, { Properties }]) => resolved(Properties.Roles).startsWith(role))
  const statements = policies.flatMap(
    ([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
  )
  return statements
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} on ${short(resource)}`)),
    )
    .sort()
}

function short(resource: unknown) {
  return resolved(resource)
    .replace(':us-east-1:123456789012:', ':')
    .replace('-123456789012-us-east-1', '')
    .replace(/Ssm\w+auditsigningkeyarn\w+Parameter/, 'SigningKeyArn')
    .replace(/Ssm\w+Parameter/, 'KeyArn')
    .replace(/[0-9A-F]{8}(?=\.Arn|$)/, '')
}

const key = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'].map(
  (action) => `kms:${action} on KeyArn`,
)

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

function logging(name: string) {
  return [`logs:CreateLogStream on ${name}Logs.Arn`, `logs:PutLogEvents on ${name}Logs.Arn`]
}

const tracing = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *']

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
    expect(permissionsOf('PublishRunRole')).toEqual([
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:PutItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:UpdateItem on arn:aws:dynamodb:table/platform-sync-state',
      'events:PutEvents on arn:aws:events:event-bus/default',
      'glue:BatchCreatePartition on arn:aws:glue:catalog',
      'glue:BatchCreatePartition on arn:aws:glue:database/platform_sync',
      ...tables.sort().map((table) => `glue:BatchCreatePartition on arn:aws:glue:table/platform_sync/${table}`),
      ...key,
      'logs:CreateLogStream on PublishRunLogs.Arn',
      'logs:PutLogEvents on PublishRunLogs.Arn',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:AbortMultipartUpload on arn:aws:s3:::platform-sync-lake/manifests/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:DeleteObject on arn:aws:s3:::platform-sync-lake/quarantine/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/index/*',
      's3:GetObject on arn:aws:s3:::platform-sync-lake/manifests/*',
      's3:ListBucket on arn:aws:s3:::platform-sync-lake',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/changes/*',
      's3:PutObject on arn:aws:s3:::platform-sync-lake/manifests/*',
      ...tracing,
    ])
  })

  it('lets schedules start the machine and the digest, and the machine call its two functions', () => {
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
      'lambda:InvokeFunction on PublishRunFunction.Arn',
      'lambda:InvokeFunction on PublishRunFunction.Arn:*',
      'lambda:InvokeFunction on SyncStreamFunction.Arn',
      'lambda:InvokeFunction on SyncStreamFunction.Arn:*',
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
    const ofFunctions = ['SyncStreamRole', 'PublishRunRole', 'AuditDigestRole', 'LimitsApplyRole', 'LimitsImportRole']
    const wild = [...ofFunctions, 'SchedulesRole', 'AuditRole', 'SyncMachineRole', 'HooksCollectRole', 'HooksStoreRole']
      .flatMap((role) => permissionsOf(role, collecting))
      .filter((permission) => permission.endsWith(' on *'))
    for (const permission of wild) expect(permission).toMatch(/^(xray|logs):/)
    expect(resources('AWS::IAM::Policy')).toHaveLength(8)
    for (const [, { Properties }] of resources('AWS::IAM::Role')) expect(Properties.ManagedPolicyArns).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { hooksTable } from '../../../lib/stores/hook-claims.ts'
import { limitsTable } from '../../../lib/stores/ledger-items.ts'
import { recordsTable, stateTable } from '../../../lib/stores/resources.ts'
import { resolved, synthesize } from '../synthesized.ts'

const { stateful, stateless, resources, terminationProtection } = synthesize()

const keptTypes = [
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::SQS::Queue',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
]

describe('the stateful stack', () => {
  it('CDK-02 keeps the logical ids of what holds data: another id would be another, empty resource', () => {
    const ids = keptTypes.flatMap((type) => Object.keys(stateful.findResources(type)))
    expect(ids.sort()).toEqual([
      'AccessLogsBucket',
      'AuditBucket',
      'AuditFindingsGlueTable',
      'AuditSigningKey',
      'CatalogDatabase',
      'ComputerProvisioningStepsGlueTable',
      'ComputersGlueTable',
      'CreditLimitChangesGlueTable',
      'CreditLimitOutcomesGlueTable',
      'DataKey',
      'EnterpriseControlRevisionsGlueTable',
      'EnterpriseSettingChangesGlueTable',
      'HookEventsDeadLetterQueue',
      'HookEventsGlueTable',
      'HookEventsQueue',
      'HooksTable',
      'IcebergDatabase',
      'InboxBucket',
      'LakeBucket',
      'LimitsDeadLetterQueue',
      'LimitsQueue',
      'LimitsTable',
      'MessageBlocksGlueTable',
      'OrganizationUsersGlueTable',
      'ReadinessAppsGlueTable',
      'ReadinessCriteriaGlueTable',
      'ReadinessReportsGlueTable',
      'RecordsTable',
      'RedactionSecret',
      'RunsGlueTable',
      'SessionMessagesGlueTable',
      'SessionTagsGlueTable',
      'SessionsGlueTable',
      'StartDeadLetterQueue',
      'StateTable',
    ])
  })

  it('CDK-02 keeps the settings whose change would replace a resource', () => {
    const tables = resources('AWS::DynamoDB::Table').map(([id, { Properties }]) => [
      id,
      Properties.TableName,
      Properties.KeySchema,
    ])
    const hash = { AttributeName: 'pk', KeyType: 'HASH' }
    expect(tables).toEqual([
      ['StateTable', 'platform-sync-state', [hash, { AttributeName: 'sk', KeyType: 'RANGE' }]],
      ['RecordsTable', 'platform-sync-records', [hash]],
      ['LimitsTable', 'platform-sync-limits', [hash, { AttributeName: 'sk', KeyType: 'RANGE' }]],
      ['HooksTable', 'platform-sync-hooks', [hash]],
    ])
    const buckets = resources('AWS::S3::Bucket').map(([id, { Properties }]) => [
      id,
      resolved(Properties.BucketName),
      Properties.ObjectLockEnabled ?? false,
    ])
    expect(buckets).toEqual([
      ['AccessLogsBucket', 'platform-sync-access-logs-123456789012-us-east-1', false],
      ['LakeBucket', 'platform-sync-lake-123456789012-us-east-1', false],
      ['AuditBucket', 'platform-sync-audit-123456789012-us-east-1', true],
      ['InboxBucket', 'platform-sync-inbox-123456789012-us-east-1', false],
    ])
  })

  it('CDK-02 keeps every table, bucket, queue, key, secret and catalog entry when the stack goes, and empties nothing', () => {
    for (const type of keptTypes) {
      for (const [id, { DeletionPolicy, UpdateReplacePolicy }] of resources(type)) {
        expect([id, DeletionPolicy, UpdateReplacePolicy]).toEqual([id, 'RetainExceptOnCreate', 'Retain'])
      }
    }
    expect(resources('Custom::S3AutoDeleteObjects')).toEqual([])
    expect(terminationProtection).toBe(true)
  })

  it('protects tables from deletion, encrypts them with the key, and can restore any second of 35 days', () => {
    for (const { name } of [stateTable, recordsTable, limitsTable, hooksTable]) {
      stateful.hasResourceProperties('AWS::DynamoDB::Table', {
        TableName: `platform-sync-${name}`,
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: { 'Fn::GetAtt': ['DataKey', 'Arn'] } },
      })
    }
  })

  it('rotates the key, and uses it for everything but the access logs', () => {
    stateful.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true })
    const algorithms = resources('AWS::S3::Bucket').map(([id, { Properties }]) => [
      id,
      JSON.stringify(Properties.BucketEncryption).includes('aws:kms'),
    ])
    expect(Object.fromEntries(algorithms)).toEqual({
      AccessLogsBucket: false,
      AuditBucket: true,
      InboxBucket: true,
      LakeBucket: true,
    })
    for (const [, { Properties }] of [...resources('AWS::SQS::Queue'), ...resources('AWS::SecretsManager::Secret')]) {
      expect(Properties.KmsMasterKeyId ?? Properties.KmsKeyId).toEqual({ 'Fn::GetAtt': ['DataKey', 'Arn'] })
    }
  })

  it('shows no bucket to the public, takes no plain HTTP, and versions what is not a log', () => {
    const policies = JSON.stringify(resources('AWS::S3::BucketPolicy'))
    for (const [id, { Properties }] of resources('AWS::S3::Bucket')) {
      expect(Properties.PublicAccessBlockConfiguration).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      })
      expect(policies).toContain(`"Resource":[{"Fn::GetAtt":["${id}","Arn"]}`)
      if (id === 'AccessLogsBucket') continue
      expect(Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' })
      expect(Properties.LoggingConfiguration).toMatchObject({ DestinationBucketName: { Ref: 'AccessLogsBucket' } })
    }
    expect(policies.match(/"aws:SecureTransport":"false"/g)).toHaveLength(4)
  })

  it('S3-04 gives up what uploads left behind, in every bucket', () => {
    for (const [id, { Properties }] of resources('AWS::S3::Bucket')) {
      expect([id, JSON.stringify(Properties.LifecycleConfiguration)]).toEqual([
        id,
        expect.stringContaining('"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":2}'),
      ])
    }
  })

  it('lets quarantine, manifests of runs and replaced versions expire, and never an index that stands, a published file or its list', () => {
    const rules = lifecycleOf('LakeBucket')
    const expiring = rules.filter((rule) => 'ExpirationInDays' in rule).map(({ Prefix }) => Prefix)
    expect(expiring).toEqual(['query-results/', 'manifests/run=', 'reports/2', 'quarantine/'])
    const replaced = rules.filter((rule) => 'NoncurrentVersionExpiration' in rule).map(({ Prefix }) => Prefix ?? 'all')
    expect(replaced).toEqual(['all', 'index/'])
  })

  it('lets the records of runs expire', () => {
    const { StateTable } = Object.fromEntries(resources('AWS::DynamoDB::Table'))
    expect(StateTable?.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'expiresAt', Enabled: true })
  })

  it('locks the audit trail for as long as the configuration says', () => {
    const { stateful: strict } = synthesize({ retention: { auditMode: 'compliance', auditDays: 2555 } })
    for (const [template, Mode, Days] of [
      [stateful, 'GOVERNANCE', 365],
      [strict, 'COMPLIANCE', 2555],
    ] as const) {
      template.hasResourceProperties('AWS::S3::Bucket', {
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention: { Mode, Days } } },
      })
    }
  })

  it('CDK-03 exports nothing to the other stack, which finds everything by name and the key by a parameter', () => {
    const outputs = Object.values({ ...stateful.toJSON().Outputs, ...stateless.toJSON().Outputs }) as object[]
    expect(outputs.filter((output) => 'Export' in output)).toEqual([])
    expect(JSON.stringify(stateless.toJSON())).not.toContain('Fn::ImportValue')
    stateful.hasResourceProperties('AWS::SSM::Parameter', { Name: '/platform-sync/key-arn' })
    stateless.hasParameter('*', { Default: '/platform-sync/key-arn', Type: 'AWS::SSM::Parameter::Value<String>' })
  })

  it('signs digests of the audit trail with a key of its own, that can do nothing else', () => {
    stateful.hasResourceProperties('AWS::KMS::Key', { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' })
    stateful.hasResourceProperties('AWS::SSM::Parameter', { Name: '/platform-sync/audit-signing-key-arn' })
  })

  it('stays as it is when a stream is disabled, and when the collector of hook events is there', () => {
    for (const other of [{ streams: ['sessions'] }, { hooks: { enabled: true } }]) {
      expect(synthesize(other).stateful.toJSON()).toEqual(stateful.toJSON())
    }
  })

  it('gives two installations in one account nothing with the same name', () => {
    const named = (name: string) => {
      const { Resources: stateful } = synthesize({ name }).stateful.toJSON()
      const { Resources: stateless } = synthesize({ name }).stateless.toJSON()
      return new Set(Object.values({ ...stateful, ...stateless } as Record<string, Named>).flatMap(physicalName))
    }
    const [acme, globex] = [named('acme'), named('globex')]
    expect(acme.size).toBeGreaterThan(20)
    expect([...acme.intersection(globex)]).toEqual([])
  })
})

function lifecycleOf(logicalId: string): Record<string, unknown>[] {
  const { Properties } = Object.fromEntries(resources('AWS::S3::Bucket'))[logicalId]!
  return (Properties.LifecycleConfiguration as { Rules: Record<string, unknown>[] }).Rules
}

type Named = { Type: string; Properties?: Record<string, unknown> }

/** The name of a resource in its account; what stands in a database or a group is named by that, too. */
function physicalName({ Type, Properties = {} }: Named): string[] {
  const own = /^AWS::(IAM|Lambda::(Permission|EventSourceMapping))/.test(Type)
    ? undefined
    : Object.keys(Properties).find((key) => /^(\w+)?Name$/.test(key))
  const within = Properties.GroupName ?? Properties.DatabaseName ?? Properties.WorkGroup ?? ''
  return own ? [`${Type} ${resolved(within)} ${resolved(Properties[own])}`] : []
}

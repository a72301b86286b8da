import { type App, Aws, CfnOutput, Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { AttributeType, BillingMode, type CfnTable, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type CfnKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms'
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { hooksTable } from '../lib/stores/hook-claims.ts'
import { limitsTable } from '../lib/stores/ledger-items.ts'
import {
  auditBucket,
  inboxBucket,
  lakeBucket,
  recordsTable,
  stateTable,
  type TableShape,
} from '../lib/stores/resources.ts'
import { streams } from '../lib/streams/index.ts'
import type { Config } from './config.ts'
import { Buckets } from './constructs/buckets.ts'
import { CatalogDatabase } from './constructs/catalog-database.ts'
import { Queues } from './constructs/queues.ts'
import { namesOf } from './names.ts'
import { kept } from './removal.ts'

/** The tables of this stack; emulators create the same. */
const tables: readonly (TableShape & { logicalId: string })[] = [
  { ...stateTable, logicalId: 'StateTable' },
  { ...recordsTable, logicalId: 'RecordsTable' },
  { ...limitsTable, logicalId: 'LimitsTable' },
  { ...hooksTable, logicalId: 'HooksTable' },
]

/**
 * All that must outlive a deployment: key, tables, buckets, secrets, the catalog. Retained when the stack goes, and under
 * logical ids that don't depend on where a construct stands.
 */
export class StatefulStack extends Stack {
  constructor(scope: App, id: string, props: StackProps & { config: Config }) {
    super(scope, id, { ...props, terminationProtection: true })
    const { config } = props
    const names = namesOf(config.name)
    const key = this.key(config.name)
    for (const shape of tables) this.table(shape, names.table(shape), key)
    new Buckets(this, 'Buckets', { names, key, retention: config.retention, reports: config.reports })
    this.redactionSecret(names.redactionSecret, key)
    const signingKey = this.signingKey(config.name)
    const { addresses } = new Queues(this, 'Queues', { names, key })
    new CatalogDatabase(this, 'Catalog', { names, key, streams })
    new StringParameter(this, 'KeyParameter', { parameterName: names.keyParameter, stringValue: key.keyArn })
    new StringParameter(this, 'SigningKeyParameter', {
      parameterName: names.signingKeyParameter,
      stringValue: signingKey.keyArn,
    })
    for (const { variable, ...shape } of tables) new CfnOutput(this, variable, { value: names.table(shape) })
    for (const { variable, ...shape } of [lakeBucket, auditBucket, inboxBucket]) {
      new CfnOutput(this, variable, { value: names.bucket(shape) })
    }
    for (const [variable, value] of Object.entries(addresses)) new CfnOutput(this, variable, { value })
    new CfnOutput(this, 'AUDIT_SIGNING_KEY_ARN', { value: signingKey.keyArn })
  }

  private key(prefix: string): Key {
    const key = new Key(this, 'Key', {
      alias: `alias/${prefix}`,
      description: `${prefix}: encrypts tables, buckets, secrets, queues and topics.`,
      enableKeyRotation: true,
      removalPolicy: kept,
    })
    // Alarms can't reach an encrypted topic without it.
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    )
    ;(key.node.defaultChild as CfnKey).overrideLogicalId('DataKey')
    return key
  }

  /** Signs digests of the audit trail. It can't be rotated: a new one is a new key, which auditors must be told. */
  private signingKey(prefix: string): Key {
    const key = new Key(this, 'SigningKey', {
      alias: `alias/${prefix}-audit-signing`,
      description: `${prefix}: signs digests of the audit trail.`,
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      removalPolicy: kept,
    })
    ;(key.node.defaultChild as CfnKey).overrideLogicalId('AuditSigningKey')
    return key
  }

  private table(shape: (typeof tables)[number], tableName: string, key: Key): void {
    const { partitionKey, sortKey, expires, logicalId } = shape
    const table = new Table(this, logicalId, {
      tableName,
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey ? { sortKey: { name: sortKey, type: AttributeType.STRING } } : {}),
      ...(expires ? { timeToLiveAttribute: expires } : {}),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: kept,
    })
    ;(table.node.defaultChild as CfnTable).overrideLogicalId(logicalId)
  }

  private redactionSecret(secretName: string, encryptionKey: Key): void {
    const secret = new Secret(this, 'RedactionSecret', {
      secretName,
      encryptionKey,
      description: 'The key under which secret values become fingerprints.',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: kept,
    })
    ;(secret.node.defaultChild as CfnSecret).overrideLogicalId('RedactionSecret')
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'A new key changes every fingerprint, so that each record with a secret counts as changed: it is rotated by hand.',
    })
  }
}

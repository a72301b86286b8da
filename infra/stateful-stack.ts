import { type App, Aws, CfnOutput, Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { AttributeType, BillingMode, type CfnTable, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { type CfnKey, Key } from 'aws-cdk-lib/aws-kms'
import { type CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { type CfnQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { lakeBucket, recordsTable, stateTable, type TableShape } from '../lib/stores/resources.ts'
import { streams } from '../lib/streams/index.ts'
import type { Config } from './config.ts'
import { Buckets } from './constructs/buckets.ts'
import { CatalogDatabase } from './constructs/catalog-database.ts'
import { namesOf } from './names.ts'
import { kept } from './removal.ts'

/** The tables of this stack; an emulator creates the same. */
const tables: readonly (TableShape & { logicalId: string })[] = [
  { ...stateTable, logicalId: 'StateTable' },
  { ...recordsTable, logicalId: 'RecordsTable' },
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
    new Buckets(this, 'Buckets', { names, key, retention: config.retention })
    this.redactionSecret(names.redactionSecret, key)
    this.startDeadLetters(names.startDeadLetters, key)
    new CatalogDatabase(this, 'Catalog', { names, key, streams })
    new StringParameter(this, 'KeyParameter', { parameterName: names.keyParameter, stringValue: key.keyArn })
    for (const { variable, ...shape } of tables) new CfnOutput(this, variable, { value: names.table(shape) })
    new CfnOutput(this, lakeBucket.variable, { value: names.bucket(lakeBucket) })
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

  private table({ partitionKey, sortKey, logicalId }: (typeof tables)[number], tableName: string, key: Key): void {
    const table = new Table(this, logicalId, {
      tableName,
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey ? { sortKey: { name: sortKey, type: AttributeType.STRING } } : {}),
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

  /** Takes the starts of runs that Scheduler could not deliver. */
  private startDeadLetters(queueName: string, encryptionMasterKey: Key): void {
    const queue = new Queue(this, 'StartDeadLetters', {
      queueName,
      encryption: QueueEncryption.KMS,
      encryptionMasterKey,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: kept,
    })
    ;(queue.node.defaultChild as CfnQueue).overrideLogicalId('StartDeadLetterQueue')
    Validations.of(queue).acknowledge({ id: 'AwsSolutions-SQS3', reason: 'It is the dead-letter queue.' })
  }
}

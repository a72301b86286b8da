import { Duration } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type CfnBucket,
  type IBucket,
  type LifecycleRule,
  ObjectLockRetention,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { datedReportPrefix, runManifestPrefix } from '../../lib/stores/lake-paths.ts'
import { auditBucket, type BucketShape, inboxBucket, lakeBucket } from '../../lib/stores/resources.ts'
import type { Config } from '../config.ts'
import type { Names } from '../names.ts'
import { kept } from '../removal.ts'

type Props = { names: Names; key: IKey; retention: Config['retention']; reports: Config['reports'] }

/** No bucket is public, unencrypted in transit, or gone with its stack. */
const closed = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: kept,
} satisfies BucketProps

/** The buckets of lib/stores/resources.ts and the one that takes their access logs. */
export class Buckets extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, key, retention, reports } = props
    const logs = new Bucket(this, 'AccessLogs', {
      ...closed,
      bucketName: names.bucket({ name: 'access-logs' }),
      // S3's log delivery writes to no bucket with a customer-managed key and a default retention.
      encryption: BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ expiration: Duration.days(retention.accessLogDays) }, abortUploads],
    })
    pin(logs, 'AccessLogsBucket')
    const create = (shape: BucketShape, logicalId: string, more: BucketProps) => {
      const bucket = new Bucket(this, logicalId, {
        ...closed,
        bucketName: names.bucket(shape),
        encryption: BucketEncryption.KMS,
        encryptionKey: key,
        bucketKeyEnabled: true,
        versioned: true,
        serverAccessLogsBucket: logs as IBucket,
        serverAccessLogsPrefix: `${shape.name}/`,
        objectLockEnabled: shape.objectLock,
        ...more,
      })
      return pin(bucket, logicalId)
    }
    create(lakeBucket, 'LakeBucket', { lifecycleRules: lakeRules(retention, reports) })
    create(auditBucket, 'AuditBucket', {
      objectLockDefaultRetention: lockOf(retention),
      lifecycleRules: [abortUploads],
    })
    const inbox = create(inboxBucket, 'InboxBucket', { lifecycleRules: [abortUploads, oldVersions(retention)] })
    // Said in the template itself: the CDK's own way is a function of its own that edits the bucket.
    inbox.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } }
  }
}

const abortUploads: LifecycleRule = { id: 'incomplete-uploads', abortIncompleteMultipartUploadAfter: Duration.days(2) }

function oldVersions({ oldVersionDays }: Config['retention']): LifecycleRule {
  return {
    id: 'old-versions',
    noncurrentVersionExpiration: Duration.days(oldVersionDays),
    expiredObjectDeleteMarker: true,
  }
}

/**
 * The index that stands is never rewritten while nothing changes, so that its age says nothing: only what publish has
 * replaced and removed expires, and sooner than the rest.
 */
function lakeRules(retention: Config['retention'], reports: Config['reports']): LifecycleRule[] {
  return [
    abortUploads,
    oldVersions(retention),
    { id: 'replaced-indexes', prefix: 'index/', noncurrentVersionExpiration: Duration.days(3) },
    { id: 'query-results', prefix: 'query-results/', expiration: Duration.days(retention.oldVersionDays) },
    { id: 'manifests', prefix: runManifestPrefix, expiration: Duration.days(retention.manifestDays) },
    { id: 'reports', prefix: datedReportPrefix, expiration: Duration.days(reports.days) },
    { id: 'quarantine', prefix: 'quarantine/', expiration: Duration.days(retention.quarantineDays) },
  ]
}

function lockOf({ auditMode, auditDays }: Config['retention']): ObjectLockRetention {
  return auditMode === 'compliance'
    ? ObjectLockRetention.compliance(Duration.days(auditDays))
    : ObjectLockRetention.governance(Duration.days(auditDays))
}

/** A logical id that no refactoring changes: another one would be another bucket. */
function pin(bucket: Bucket, logicalId: string): CfnBucket {
  const resource = bucket.node.defaultChild as CfnBucket
  resource.overrideLogicalId(logicalId)
  return resource
}

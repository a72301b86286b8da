import { Aws } from 'aws-cdk-lib'
import type { QueueShape } from '../lib/stores/limits-queue.ts'
import type { BucketShape, TableShape } from '../lib/stores/resources.ts'

/**
 * Physical names, from the installation's prefix. Both stacks derive them, so that neither exports values to the other
 * and a stateful resource can't be replaced unnoticed: its name is taken.
 */
export function namesOf(prefix: string) {
  return {
    prefix,
    table: ({ name }: Pick<TableShape, 'name'>) => `${prefix}-${name}`,
    /** Bucket names are one space for all accounts. */
    bucket: ({ name }: Pick<BucketShape, 'name'>) => `${prefix}-${name}-${Aws.ACCOUNT_ID}-${Aws.REGION}`,
    queue: ({ name }: Pick<QueueShape, 'name'>) => `${prefix}-${name}`,
    redactionSecret: `${prefix}/redaction-key`,
    /** Glue knows no hyphens in names that SQL can use unquoted. */
    database: prefix.replaceAll('-', '_'),
    /** The Iceberg tables have a database of their own: their names are those of the other one's. */
    icebergDatabase: `${prefix.replaceAll('-', '_')}_iceberg`,
    workgroup: prefix,
    startDeadLetters: `${prefix}-undelivered-starts`,
    /** The parameter that holds the ARN of the key, which no name tells. */
    keyParameter: `/${prefix}/key-arn`,
    /** Likewise for the key that signs digests of the audit trail. */
    signingKeyParameter: `/${prefix}/audit-signing-key-arn`,
    alarmTopic: `${prefix}-alarms`,
    alarm: (name: string) => `${prefix}-${name}`,
    /** No hyphen is left of those of the schedule: else `x-y` of `acme` would be called as `y` of `acme-x`. */
    scheduleAlarm: (schedule: string) => `${prefix}-${schedule.replaceAll('-', '_')}-not-complete`,
    /** Rules of EventBridge, by what they look at. */
    rule: (name: 'inbox' | 'inbox-look' | 'policy') => `${prefix}-${name}`,
    /** Groups of schedules: those of the configuration, and that of the audit trail. */
    scheduleGroups: { runs: prefix, audit: `${prefix}-audit` },
    stateMachine: `${prefix}-sync`,
    function: (name: string) => `${prefix}-${name}`,
    logGroup: (name: string) => `/platform-sync/${prefix}/${name}`,
  }
}

export type Names = ReturnType<typeof namesOf>

/** A DynamoDB table: what both the emulator and the stack create. */
export type TableShape = {
  /** Logical name; the physical one comes from the environment. */
  readonly name: string
  /** The environment variable that holds the physical name. */
  readonly variable: string
  readonly doc: string
  /** String attribute. */
  readonly partitionKey: string
  /** String attribute; absent when the partition key alone identifies an item. */
  readonly sortKey?: string
  /** Number attribute, Unix seconds: when DynamoDB may remove an item; absent when none is ever removed. */
  readonly expires?: string
}

/** An S3 bucket: what both the emulator and the stack create. */
export type BucketShape = {
  readonly name: string
  readonly variable: string
  readonly doc: string
  /** Whether objects, once written, can't be changed or removed before their retention ends. */
  readonly objectLock: boolean
}

/** Checkpoints, leases, the publisher's state and run records: an item per thing, found by kind (`pk`) and name (`sk`). */
export const stateTable = {
  name: 'state',
  variable: 'STATE_TABLE',
  doc: 'Checkpoints and leases of streams, the publisher, outcomes of runs.',
  partitionKey: 'pk',
  sortKey: 'sk',
  expires: 'expiresAt',
} satisfies TableShape

/** Current records: `pk` is `<stream>#<primary key>`, so that writes spread over all partitions. */
export const recordsTable = {
  name: 'records',
  variable: 'RECORDS_TABLE',
  doc: 'The current record per stream and primary key.',
  partitionKey: 'pk',
} satisfies TableShape

/** The warehouse's files, and the engine's working objects. */
export const lakeBucket = {
  name: 'lake',
  variable: 'LAKE_BUCKET',
  doc: 'Change log, quarantine, manifests, indexes, large record bodies.',
  objectLock: false,
} satisfies BucketShape

/** The audit trail's entries. */
export const auditBucket = {
  name: 'audit',
  variable: 'AUDIT_BUCKET',
  doc: 'One object per entry of the audit trail, and signed digests of its head.',
  objectLock: true,
} satisfies BucketShape

/** Where CSV files with credit limits are dropped. */
export const inboxBucket = {
  name: 'inbox',
  variable: 'INBOX_BUCKET',
  doc: 'CSV files with credit limits to apply.',
  objectLock: false,
} satisfies BucketShape

import { describe, expect, it } from 'vitest'
import { key, logging, permissionsOf, tracing } from '../role-permissions.ts'

describe('the function that keeps the policy of credit limits', () => {
  it('lets apply-credit-policy read users, ledger and policy, and write its own plans, no policy and no approval', () => {
    const inbox = 'arn:aws:s3:::platform-sync-inbox'
    const lake = 'arn:aws:s3:::platform-sync-lake'
    const permissions = [
      'dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-state',
      'dynamodb:BatchGetItem on arn:aws:dynamodb:table/platform-sync-records',
      ...['BatchGetItem', 'GetItem', 'Scan'].map(
        (of) => `dynamodb:${of} on arn:aws:dynamodb:table/platform-sync-limits`,
      ),
      ...key,
      ...logging('LimitsPolicy'),
      ...['policy', 'policy-plans', 'policy-approvals'].map((folder) => `s3:GetObject on ${inbox}/${folder}/*`),
      ...['index', 'bodies'].map((folder) => `s3:GetObject on ${lake}/${folder}/*`),
      ...['AbortMultipartUpload', 'PutObject'].map((of) => `s3:${of} on ${inbox}/policy-plans/*`),
      ...[inbox, lake].map((bucket) => `s3:ListBucket on ${bucket}`),
      ...['GetQueueAttributes', 'SendMessage'].map((of) => `sqs:${of} on arn:aws:sqs:platform-sync-limits.fifo`),
      ...tracing,
    ]
    expect(permissionsOf('LimitsPolicyRole')).toEqual(permissions.sort())
  })
})

import type { Guard } from './guard.ts'

/** What others do with a function's role or in its name, and what only trouble asks for: no call of a good day shows it. */
const unseen = [
  /^logs:/,
  /^xray:/,
  // S3, DynamoDB and SQS ask for it where they keep what is encrypted.
  /^kms:.* on KeyArn$/,
  // The event source mapping takes messages.
  /^sqs:(ReceiveMessage|DeleteMessage|GetQueueAttributes) on .*:platform-sync-(limits\.fifo|hook-events)$/,
  /^s3:AbortMultipartUpload /,
]

/** The permissions that a function has and did not use, without those of which no call is seen. Tables of Glue count as one. */
export function unusedBy(functionName: string, { grantedTo, usedBy }: Guard): string[] {
  const asOne = (permission: string) => permission.replace(/(glue:table\/\w+\/).*/, '$1*')
  const used = new Set(usedBy(functionName).map(asOne))
  const granted = new Set(grantedTo(functionName).map(asOne))
  return [...granted.difference(used)].filter((one) => !unseen.some((form) => form.test(one))).sort()
}

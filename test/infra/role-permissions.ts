import { resolved, synthesize } from './synthesized.ts'

const { resources } = synthesize()

/** A statement of a policy. */
export type Statement = { Action: string | string[]; Resource: unknown; Effect: string; Condition?: unknown }

/** What the role of a function or a service may do: `action on resource`, sorted. */
export function permissionsOf(role: string, { resources: all } = { resources }): string[] {
  // What is too long for the policies of a role itself, the CDK moves to one beside it.
  const policies = [...all('AWS::IAM::Policy'), ...all('AWS::IAM::ManagedPolicy')].filter(([, { Properties }]) =>
    resolved(Properties.Roles).startsWith(role),
  )
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

export const key = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'].map(
  (action) => `kms:${action} on KeyArn`,
)

/** What writing to its own log group takes. */
export function logging(name: string) {
  return [`logs:CreateLogStream on ${name}Logs.Arn`, `logs:PutLogEvents on ${name}Logs.Arn`]
}

export const tracing = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *']

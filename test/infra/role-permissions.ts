import { resolved, type Synthesized, synthesize } from './synthesized.ts'

/** A statement of a policy. */
export type Statement = { Action: string | string[]; Resource: unknown; Effect: string; Condition?: unknown }

/** The statements of all policies of a role. */
export function statementsOf(role: string, { resources: all }: Pick<Synthesized, 'resources'>): Statement[] {
  // What is too long for the policies of a role itself, the CDK moves to one beside it.
  const policies = [...all('AWS::IAM::Policy'), ...all('AWS::IAM::ManagedPolicy')].filter(([, { Properties }]) =>
    resolved(Properties.Roles).startsWith(role),
  )
  return policies.flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement)
}

/** What the role of a function or a service may do: `action on resource`, sorted. */
export function permissionsOf(role: string, template: Pick<Synthesized, 'resources'> = synthesize()): string[] {
  return statementsOf(role, template)
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => permission(action, resolved(resource)))),
    )
    .sort()
}

/** A permission as tests name it: without what is the same everywhere. */
export function permission(action: string, resource: string): string {
  return `${action} on ${short(resource)}`
}

function short(resource: string) {
  return resource
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

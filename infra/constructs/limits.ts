import { Duration, Stack } from 'aws-cdk-lib'
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Construct } from 'constructs'
import { policyPlaces, settledFolders } from '../../lib/limits/inbox-places.ts'
import { limitsTable } from '../../lib/stores/ledger-items.ts'
import { applySeconds, limitsQueue } from '../../lib/stores/limits-queue.ts'
import { inboxBucket, lakeBucket, recordsTable, stateTable } from '../../lib/stores/resources.ts'
import type { Config } from '../config.ts'
import type { Names } from '../names.ts'
import { grantApplyLimits, grantApplyPolicy, grantImportLimits, type Resources } from './grants.ts'
import { type FunctionCommons, WorkerFunction } from './worker-function.ts'

type Props = { names: Names; config: Config; common: FunctionCommons; resources: Resources }

/** Credit limits: files of the inbox and a policy become messages, messages become limits. */
export class Limits extends Construct {
  readonly apply: WorkerFunction
  readonly import: WorkerFunction
  readonly policy: WorkerFunction

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, resources } = props
    const environment = { ...props.common.environment, ...environmentOf(this, props) }
    const common = { ...props.common, environment, memoryMegabytes: 512 }
    this.apply = new WorkerFunction(this, 'Apply', {
      ...common,
      environment: { ...environment, [stateTable.variable]: names.table(stateTable) },
      name: 'apply-credit-limits',
      timeout: Duration.seconds(applySeconds),
    })
    this.import = new WorkerFunction(this, 'Import', {
      ...common,
      name: 'import-credit-limits',
      // A workbook of the largest size that is read takes half of it.
      memoryMegabytes: 1024,
      timeout: Duration.minutes(2),
    })
    this.policy = new WorkerFunction(this, 'Policy', {
      ...common,
      environment: { ...environmentOf(this, props), ...usersEnvironmentOf(names) },
      name: 'apply-credit-policy',
      timeout: Duration.minutes(5),
    })
    grantApplyPolicy(this.policy, resources)
    grantApplyLimits(this.apply, resources)
    grantImportLimits(this.import, resources)
    this.applyWhatComes(names)
    this.importWhatIsDropped(names)
    this.lookWhatWaits(names)
    this.keepWhatPolicySays(names)
  }

  /** One message group, so that one batch is under way at a time, however many functions there could be. */
  private applyWhatComes(names: Names) {
    const mapping = this.apply.lambda.addEventSourceMapping('Queue', {
      eventSourceArn: Stack.of(this).formatArn({ service: 'sqs', resource: names.queue(limitsQueue) }),
      batchSize: 10,
      reportBatchItemFailures: true,
    })
    // Lambda refuses a mapping whose function may not read the queue yet.
    mapping.node.addDependency(this.apply.role)
  }

  /** What lies where files are put that were dealt with starts nothing. */
  private importWhatIsDropped(names: Names) {
    new Rule(this, 'Dropped', {
      ruleName: names.rule('inbox'),
      description: 'A file with credit limits was put into the inbox.',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [names.bucket(inboxBucket)] },
          object: { key: Match.anythingButPrefix(...settledFolders) },
        },
      },
      targets: [new LambdaFunction(this.import.lambda)],
    })
  }

  /** Four times in the hour that its alarm looks at: a file waits whose notification went to nobody. */
  private lookWhatWaits(names: Names) {
    new Rule(this, 'Waiting', {
      ruleName: names.rule('inbox-look'),
      description: 'Looks for files in the inbox that nobody takes up.',
      schedule: Schedule.rate(Duration.minutes(15)),
      targets: [new LambdaFunction(this.import.lambda)],
    })
  }

  /** What the function writes lies elsewhere, so that it never starts itself. */
  private keepWhatPolicySays(names: Names) {
    const { policy, approvals } = policyPlaces
    new Rule(this, 'PolicyChanged', {
      ruleName: names.rule('policy'),
      description: 'The policy of credit limits changed, or somebody approved a plan.',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [names.bucket(inboxBucket)] },
          object: { key: Match.anyOf(Match.prefix(policy), Match.prefix(approvals)) },
        },
      },
      targets: [new LambdaFunction(this.policy.lambda)],
    })
  }
}

/** Where it stands who the users are. */
function usersEnvironmentOf(names: Names): Record<string, string> {
  return {
    [stateTable.variable]: names.table(stateTable),
    [recordsTable.variable]: names.table(recordsTable),
    [lakeBucket.variable]: names.bucket(lakeBucket),
  }
}

function environmentOf(scope: Construct, { names, config }: Props): Record<string, string> {
  const { region, account, urlSuffix } = Stack.of(scope)
  return {
    [limitsTable.variable]: names.table(limitsTable),
    [limitsQueue.variable]: `https://sqs.${region}.${urlSuffix}/${account}/${names.queue(limitsQueue)}`,
    [inboxBucket.variable]: names.bucket(inboxBucket),
    LIMITS_MAX_LIMIT: String(config.limits.maxLimit),
    LIMITS_MAX_CHANGES: String(config.limits.maxChanges),
  }
}

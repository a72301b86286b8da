import { Aws, Duration, Stack, TimeZone, Validations } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import { Schedule, ScheduleExpression, ScheduleGroup, TimeWindow } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { Names } from '../names.ts'
import { grantAuditDigest, type Resources } from './grants.ts'
import { type FunctionCommons, WorkerFunction } from './worker-function.ts'

type Props = { names: Names; common: FunctionCommons; resources: Resources; undelivered: IQueue }

/** The daily look at the audit trail, and the digest that says how far it reaches. */
export class AuditDigest extends Construct {
  readonly worker: WorkerFunction

  constructor(scope: Construct, id: string, { names, common, resources, undelivered }: Props) {
    super(scope, id)
    this.worker = new WorkerFunction(this, 'Digest', {
      ...common,
      name: 'audit-digest',
      memoryMegabytes: 1_024,
      timeout: Duration.minutes(15),
    })
    grantAuditDigest(this.worker, resources)
    this.everyDay(names, resources.keyArn, undelivered)
  }

  /** In a group of its own, so that no schedule of the configuration can have its name. */
  private everyDay(names: Names, keyArn: string, deadLetterQueue: IQueue) {
    const { lambda } = this.worker
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    })
    role.addToPolicy(new PolicyStatement({ actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [keyArn] }))
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${Stack.of(this).getLogicalId(lambda.node.defaultChild as CfnFunction)}.Arn>:*]`,
      reason: 'All versions of the one function.',
    })
    new Schedule(this, 'Schedule', {
      scheduleName: 'audit-digest',
      scheduleGroup: new ScheduleGroup(this, 'Group', { scheduleGroupName: names.scheduleGroups.audit }),
      // After the nightly run; a digest is promised every 26 hours.
      schedule: ScheduleExpression.expression('cron(0 4 * * ? *)', TimeZone.ETC_UTC),
      timeWindow: TimeWindow.off(),
      target: new LambdaInvoke(lambda, { role, deadLetterQueue, retryAttempts: 5, maxEventAge: Duration.hours(1) }),
    })
  }
}

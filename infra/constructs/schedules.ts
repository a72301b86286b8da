import { Aws, Duration, TimeZone } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ContextAttribute,
  Schedule,
  ScheduleExpression,
  ScheduleGroup,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler'
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import { streamNamed } from '../../lib/streams/index.ts'
import { shardsOf } from '../../lib/streams/shards.ts'
import type { Config } from '../config.ts'
import type { Names } from '../names.ts'

type Props = {
  names: Names
  schedules: Config['schedules']
  machine: StateMachine
  undelivered: IQueue
  keyArn: string
}

/** Starts a run at each scheduled time; what could not be started is kept in a queue, and an alarm says so. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, schedules, machine, undelivered, keyArn } = props
    const scheduleGroup = new ScheduleGroup(this, 'Group', { scheduleGroupName: names.scheduleGroups.runs })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    })
    role.addToPolicy(new PolicyStatement({ actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [keyArn] }))
    for (const [name, { expression, timeZone, streams }] of Object.entries(schedules)) {
      new Schedule(this, `Schedule-${name}`, {
        scheduleName: name,
        scheduleGroup,
        schedule: ScheduleExpression.expression(expression, TimeZone.of(timeZone)),
        timeWindow: TimeWindow.off(),
        target: new StepFunctionsStartExecution(machine, {
          role,
          retryAttempts: 5,
          maxEventAge: Duration.hours(1),
          deadLetterQueue: undelivered,
          input: ScheduleTargetInput.fromObject({
            schedule: name,
            // The time it was due, not the time it starts: a schedule that fires twice is one run.
            scheduledAt: ContextAttribute.scheduledTime,
            ...work(streams),
          }),
        }),
      })
    }
  }
}

/** What a run reads: streams, and the shards of those that are divided. */
function work(names: readonly string[]): { streams: string[]; shards?: string[] } {
  const isDivided = (name: string) => shardsOf(streamNamed(name)).length > 1
  const streams = names.filter((name) => !isDivided(name))
  if (streams.length === names.length) return { streams }
  const shards = names.filter(isDivided).flatMap((name) => shardsOf(streamNamed(name)))
  return { streams, shards: shards.map(({ name }) => name) }
}

import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import type { CfnFunction, IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import {
  Choice,
  Condition,
  DefinitionBody,
  Fail,
  type IChainable,
  JsonPath,
  LogLevel,
  Map as MapState,
  Pass,
  StateMachine,
  StateMachineType,
  Succeed,
  TaskInput,
  type TaskStateBase,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import type { Names } from '../names.ts'

type Functions = { syncStream: IFunction; publishRun: IFunction }

/** 15 minutes each: nearly a day. */
const mostPauses = 90
/** Waits for the platform's rate limit, or for another worker at the stream. */
const mostWaits = 30
const mostHours = 23
/** Waits that the platform dictates get a twentieth of the time: publishing the other streams waits for them. */
const mostWaitSeconds = Duration.hours(mostHours).toSeconds() / 20

type Props = Functions & { names: Names; logDays: RetentionDays }

/**
 * A run: every stream on its own until it is done, then what is complete becomes visible. Input: `schedule`,
 * `scheduledAt`, `streams`. A stream that fails is data until the end, where it makes the run fail with its reason.
 */
export class SyncMachine extends Construct {
  readonly machine: StateMachine

  constructor(scope: Construct, id: string, { names, logDays, ...functions }: Props) {
    super(scope, id)
    const destination = new LogGroup(this, 'Logs', {
      // This prefix keeps the resource policy of CloudWatch Logs from growing with each log group.
      logGroupName: `/aws/vendedlogs/states/${names.stateMachine}`,
      retention: logDays,
      // Its name is fixed: a group that stayed behind would be in the way of the next deployment.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: names.stateMachine,
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromChainable(runDefinition(this, functions)),
      timeout: Duration.hours(mostHours),
      tracingEnabled: true,
      logs: { destination, level: LogLevel.ALL, includeExecutionData: true },
    })
    acknowledgeWildcards(this.machine, functions)
  }
}

function acknowledgeWildcards(machine: StateMachine, functions: Functions) {
  const stack = Stack.of(machine)
  Validations.of(machine).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'Delivery of log lines and traces knows no resources.',
  })
  for (const lambda of Object.values(functions)) {
    const logicalId = stack.getLogicalId(lambda.node.defaultChild as CfnFunction)
    Validations.of(machine).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
      reason: 'All versions of the one function.',
    })
  }
}

function runDefinition(scope: Construct, functions: Functions): IChainable {
  const everyStream = new MapState(scope, 'EveryStream', {
    itemsPath: '$.streams',
    itemSelector: {
      'schedule.$': '$.schedule',
      'scheduledAt.$': '$.scheduledAt',
      'stream.$': '$$.Map.Item.Value',
      pauses: { count: 0 },
      waits: { count: 0 },
      patience: { seconds: 0 },
    },
    resultPath: '$.outcomes',
  }).itemProcessor(oneStream(scope, functions.syncStream))

  const ended = new Choice(scope, 'DidAllStreamsEnd')
    .when(Condition.isNull('$.run.failure'), new Succeed(scope, 'RunIsDone'))
    .otherwise(new Fail(scope, 'RunFailed', { error: 'StreamsFailed', causePath: JsonPath.stringAt('$.run.failure') }))
  return everyStream.next(publish(scope, functions.publishRun)).next(ended)
}

function oneStream(scope: Construct, syncStream: IFunction): IChainable {
  const attempt = new LambdaInvoke(scope, 'SyncStream', {
    lambdaFunction: syncStream,
    payloadResponseOnly: true,
    payload: payloadOf('schedule', 'scheduledAt', 'stream'),
    resultPath: '$.step',
  })
  // A function that was killed leaves a lease of three minutes; its successor goes on from the checkpoint.
  retry(attempt, { seconds: 200, times: 2 })
  const died = new Pass(scope, 'StreamDied', { parameters: { 'stream.$': '$.stream', 'error.$': '$.error' } })
  attempt.addCatch(died, { resultPath: '$.error' })

  const countWait = count(scope, 'waits')
  const waitForWorker = new Wait(scope, 'WaitForOtherWorker', { time: WaitTime.duration(Duration.seconds(60)) })
  const ended = new Pass(scope, 'StreamEnded', { outputPath: '$.step' })
  const next = new Choice(scope, 'WhatNext')
    .when(may('pauses', 'paused'), count(scope, 'pauses').next(attempt))
    .when(may('waits', 'rate_limited', 'running'), countWait)
    .otherwise(ended)
  countWait.next(
    new Choice(scope, 'WaitForWhat')
      .when(Condition.stringEquals('$.step.status', 'rate_limited'), waitWithPatience(scope, { attempt, ended }))
      .otherwise(waitForWorker.next(attempt)),
  )
  return attempt.next(next)
}

/** Waits as the platform asks, if that fits into what the run has for it. Else the stream ends, with the time to go on. */
function waitWithPatience(
  scope: Construct,
  { attempt, ended }: { attempt: IChainable; ended: IChainable },
): IChainable {
  const asked = new Pass(scope, 'CountPatience', {
    parameters: { 'seconds.$': 'States.MathAdd($.patience.seconds, $.step.waitSeconds)' },
    resultPath: '$.patience',
  })
  const wait = new Wait(scope, 'WaitAsAsked', { time: WaitTime.secondsPath('$.step.waitSeconds') })
  return asked.next(
    new Choice(scope, 'IsThereTimeToWait')
      .when(Condition.numberLessThanEquals('$.patience.seconds', mostWaitSeconds), wait.next(attempt))
      .otherwise(ended),
  )
}

function publish(scope: Construct, publishRun: IFunction) {
  const task = new LambdaInvoke(scope, 'PublishRun', {
    lambdaFunction: publishRun,
    payloadResponseOnly: true,
    payload: payloadOf('schedule', 'scheduledAt', 'outcomes'),
    resultPath: '$.run',
  })
  return retry(task, { seconds: 60, times: 5 })
}

function payloadOf(...fields: string[]): TaskInput {
  return TaskInput.fromObject(Object.fromEntries(fields.map((field) => [`${field}.$`, `$.${field}`])))
}

/** What no time heals: an event that is none, a function without its configuration. Its name is the error's in lib/core/errors.ts. */
const beyondRepair = ['FatalError', 'RejectedError']

function retry<T extends TaskStateBase>(task: T, { seconds, times }: { seconds: number; times: number }): T {
  task.addRetry({ errors: beyondRepair, maxAttempts: 0 })
  return task.addRetry({
    errors: ['States.ALL'],
    interval: Duration.seconds(seconds),
    maxAttempts: times,
    backoffRate: 1,
  }) as T
}

type Counter = 'pauses' | 'waits'
const most: Record<Counter, number> = { pauses: mostPauses, waits: mostWaits }

function may(counter: Counter, ...statuses: string[]): Condition {
  return Condition.and(
    Condition.or(...statuses.map((status) => Condition.stringEquals('$.step.status', status))),
    Condition.numberLessThan(`$.${counter}.count`, most[counter]),
  )
}

function count(scope: Construct, counter: Counter): Pass {
  return new Pass(scope, `Count${counter === 'pauses' ? 'Pause' : 'Wait'}`, {
    parameters: { 'count.$': `States.MathAdd($.${counter}.count, 1)` },
    resultPath: `$.${counter}`,
  })
}

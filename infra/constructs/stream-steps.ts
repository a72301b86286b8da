import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import {
  Choice,
  Condition,
  type IChainable,
  Pass,
  TaskInput,
  type TaskStateBase,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import type { Construct } from 'constructs'

/** 15 minutes each: nearly a day. */
const mostPauses = 90
/** Waits for the platform's rate limit, or for another worker at the stream. */
const mostWaits = 30
/** Lives of publish-run for tables that take longer than one of them: 15 minutes each, ten hours in all. */
export const mostFollows = 40
/** How long a run may take. */
export const mostHours = 23
/** Waits that the platform dictates get a twentieth of the time: publishing the other streams waits for them. */
const mostWaitSeconds = Duration.hours(mostHours).toSeconds() / 20

/** What an item of a map begins with. */
export const firstStep = {
  'schedule.$': '$.schedule',
  'scheduledAt.$': '$.scheduledAt',
  'stream.$': '$$.Map.Item.Value',
  pauses: { count: 0 },
  waits: { count: 0 },
  patience: { seconds: 0 },
}

type Steps = {
  scope: Construct
  syncStream: IFunction
  nameOf: (step: string) => string
  /** What is told of a death: where many stand in one state of at most 256 KB, not all of it. */
  death: Readonly<Record<string, unknown>>
}

/** A death as Step Functions tells it. */
export const wholeDeath = { 'error.$': '$.error' }
/** A death by its name alone: the log of the function has the rest. */
export const shortDeath = { error: { 'Error.$': '$.error.Error' } }

/**
 * The steps of one stream, or one shard: attempts until one ends it. What it comes to is data, a death included. States
 * are named by `nameOf`, since a name may stand once in a machine.
 */
export function streamSteps({ scope, syncStream, nameOf, death }: Steps): IChainable {
  const attempt = new LambdaInvoke(scope, nameOf('SyncStream'), {
    lambdaFunction: syncStream,
    payloadResponseOnly: true,
    payload: payloadOf('schedule', 'scheduledAt', 'stream'),
    resultPath: '$.step',
  })
  // A function that was killed leaves a lease of three minutes; its successor goes on from the checkpoint.
  retry(attempt, { seconds: 200, times: 2 })
  const died = new Pass(scope, nameOf('StreamDied'), { parameters: { 'stream.$': '$.stream', ...death } })
  attempt.addCatch(died, { resultPath: '$.error' })

  const countWait = count({ scope, nameOf }, 'waits')
  const waitForWorker = new Wait(scope, nameOf('WaitForOtherWorker'), { time: WaitTime.duration(Duration.seconds(60)) })
  const ended = new Pass(scope, nameOf('StreamEnded'), { outputPath: '$.step' })
  const next = new Choice(scope, nameOf('WhatNext'))
    .when(may('pauses', 'paused'), count({ scope, nameOf }, 'pauses').next(attempt))
    .when(may('waits', 'rate_limited', 'running'), countWait)
    .otherwise(ended)
  countWait.next(
    new Choice(scope, nameOf('WaitForWhat'))
      .when(
        Condition.stringEquals('$.step.status', 'rate_limited'),
        waitWithPatience({ scope, nameOf }, { attempt, ended }),
      )
      .otherwise(waitForWorker.next(attempt)),
  )
  return attempt.next(next)
}

type Naming = Pick<Steps, 'scope' | 'nameOf'>

/** Waits as the platform asks, if that fits into what the run has for it. Else the stream ends, with the time to go on. */
function waitWithPatience(
  { scope, nameOf }: Naming,
  { attempt, ended }: { attempt: IChainable; ended: IChainable },
): IChainable {
  const asked = new Pass(scope, nameOf('CountPatience'), {
    parameters: { 'seconds.$': 'States.MathAdd($.patience.seconds, $.step.waitSeconds)' },
    resultPath: '$.patience',
  })
  const wait = new Wait(scope, nameOf('WaitAsAsked'), { time: WaitTime.secondsPath('$.step.waitSeconds') })
  return asked.next(
    new Choice(scope, nameOf('IsThereTimeToWait'))
      .when(Condition.numberLessThanEquals('$.patience.seconds', mostWaitSeconds), wait.next(attempt))
      .otherwise(ended),
  )
}

/** The fields of the state that a task is handed. */
export function payloadOf(...fields: string[]): TaskInput {
  return TaskInput.fromObject(Object.fromEntries(fields.map((field) => [`${field}.$`, `$.${field}`])))
}

/** What no time heals: an event that is none, a function without its configuration. Its name is the error's in lib/core/errors.ts. */
const beyondRepair = ['FatalError', 'RejectedError']

/** Repeats a task unless time heals nothing. */
export function retry<T extends TaskStateBase>(task: T, { seconds, times }: { seconds: number; times: number }): T {
  task.addRetry({ errors: beyondRepair, maxAttempts: 0 })
  return task.addRetry({
    errors: ['States.ALL'],
    interval: Duration.seconds(seconds),
    maxAttempts: times,
    backoffRate: 1,
  }) as T
}

type Counter = 'pauses' | 'waits' | 'follows'
const most = { pauses: mostPauses, waits: mostWaits }

function may(counter: 'pauses' | 'waits', ...statuses: string[]): Condition {
  return Condition.and(
    Condition.or(...statuses.map((status) => Condition.stringEquals('$.step.status', status))),
    Condition.numberLessThan(`$.${counter}.count`, most[counter]),
  )
}

const stepOf: Record<Counter, string> = { pauses: 'CountPause', waits: 'CountWait', follows: 'CountFollow' }

/** Adds one to a counter of the state. */
export function count({ scope, nameOf }: Naming, counter: Counter): Pass {
  return new Pass(scope, nameOf(stepOf[counter]), {
    parameters: { 'count.$': `States.MathAdd($.${counter}.count, 1)` },
    resultPath: `$.${counter}`,
  })
}

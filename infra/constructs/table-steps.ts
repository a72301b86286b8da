import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Choice, Condition, type IChainable, Pass, Result, Wait, WaitTime } from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import type { Construct } from 'constructs'
import { count, mostFollows, payloadOf, retry } from './stream-steps.ts'

type Following = { publishRun: IFunction; fields: readonly string[]; ended: IChainable }

/**
 * Calls publish-run again while tables of the run are behind and that brings them further. The run is announced by then, and
 * its page written. Between two calls others may publish, who wait for their turn.
 */
export function followTables(scope: Construct, { publishRun, fields, ended }: Following): IChainable {
  const begin = new Pass(scope, 'TablesFollow', { result: Result.fromObject({ count: 0 }), resultPath: '$.follows' })
  const wait = new Wait(scope, 'LetOthersPublish', { time: WaitTime.duration(Duration.seconds(60)) })
  const task = new LambdaInvoke(scope, 'FollowUp', {
    lambdaFunction: publishRun,
    payloadResponseOnly: true,
    payload: payloadOf(...fields),
    resultPath: '$.run',
  })
  const goesOn = Condition.and(
    Condition.isPresent('$.run.goOn'),
    Condition.booleanEquals('$.run.goOn', true),
    Condition.numberLessThan('$.follows.count', mostFollows),
  )
  const more = new Choice(scope, 'MayTablesComeFurther')
  const again = count({ scope, nameOf: (step) => step }, 'follows')
    .next(wait)
    .next(retry(task, { seconds: 60, times: 5 }))
  again.next(more)
  return begin.next(more.when(goesOn, again).otherwise(ended))
}

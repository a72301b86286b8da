import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import type { CfnFunction, IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import {
  type CfnStateMachine,
  Choice,
  Condition,
  DefinitionBody,
  DistributedMap,
  Fail,
  type IChainable,
  JsonPath,
  LogLevel,
  Map as MapState,
  Pass,
  Result,
  StateMachine,
  StateMachineType,
  Succeed,
} from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import { Construct } from 'constructs'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import type { Names } from '../names.ts'
import { firstStep, mostHours, payloadOf, retry, shortDeath, streamSteps, wholeDeath } from './stream-steps.ts'
import { followTables } from './table-steps.ts'

type Functions = {
  syncStream: IFunction
  publishRun: IFunction
  applyPolicy: IFunction
  /** Null where no run ends with a page. */
  writeReport: IFunction | null
}

type Props = Functions & {
  names: Names
  logDays: RetentionDays
  /** How many shards are read at a time; null where no stream is read in shards. */
  shardsAtOnce: number | null
  /** The schedules whose runs end with a page. */
  reporting: readonly string[]
}

/**
 * A run: every stream on its own until it is done, then every shard, then what is complete becomes visible. Input:
 * `schedule`, `scheduledAt`, `streams`, and where there are shards, the names of those to be read as `shards`. A stream that fails is data until the end, where it makes the run fail with its reason.
 */
export class SyncMachine extends Construct {
  readonly machine: StateMachine

  constructor(scope: Construct, id: string, { names, logDays, shardsAtOnce, reporting, ...functions }: Props) {
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
      definitionBody: DefinitionBody.fromChainable(runDefinition(this, functions, { shardsAtOnce, reporting })),
      timeout: Duration.hours(mostHours),
      tracingEnabled: true,
      logs: { destination, level: LogLevel.ALL, includeExecutionData: true },
    })
    acknowledgeWildcards(this.machine, functions)
    if (shardsAtOnce !== null) acknowledgeExecutions(this.machine)
  }
}

function acknowledgeWildcards(machine: StateMachine, functions: Functions) {
  const stack = Stack.of(machine)
  Validations.of(machine).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'Delivery of log lines and traces knows no resources.',
  })
  for (const lambda of Object.values(functions).filter((each) => each !== null)) {
    const logicalId = stack.getLogicalId(lambda.node.defaultChild as CfnFunction)
    Validations.of(machine).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
      reason: 'All versions of the one function.',
    })
  }
}

/** The CDK lets the machine start, watch and end executions of its own, which get their names as they are started. */
function acknowledgeExecutions(machine: StateMachine) {
  const logicalId = Stack.of(machine).getLogicalId(machine.node.defaultChild as CfnStateMachine)
  const name = `{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"${logicalId}"}]}]}`
  for (const executions of [name, `${name}/${shardsLabel}`]) {
    Validations.of(machine).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:${executions}:*]`,
      reason: 'Executions of this one machine, one for each shard.',
    })
  }
}

const shardsLabel = 'shards'

function runDefinition(
  scope: Construct,
  functions: Functions,
  { shardsAtOnce, reporting }: Pick<Props, 'shardsAtOnce' | 'reporting'>,
): IChainable {
  const { syncStream, publishRun, applyPolicy, writeReport } = functions
  const everyStream = new MapState(scope, 'EveryStream', {
    itemsPath: '$.streams',
    itemSelector: firstStep,
    resultPath: '$.outcomes',
  }).itemProcessor(streamSteps({ scope, syncStream, nameOf: (step) => step, death: wholeDeath }))

  const ended = new Choice(scope, 'DidAllStreamsEnd')
    .when(Condition.isNull('$.run.failure'), new Succeed(scope, 'RunIsDone'))
    .otherwise(new Fail(scope, 'RunFailed', { error: 'StreamsFailed', causePath: JsonPath.stringAt('$.run.failure') }))
  const fields = shardsAtOnce === null ? runFields : [...runFields, 'shards', 'shardOutcomes']
  const follow = followTables(scope, { publishRun, fields, ended })
  const report = writeReport ? reportStep(scope, { writeReport, reporting, ended: follow }) : follow
  const keepPolicy = policyStep(scope, applyPolicy, report)
  const published = publish(scope, publishRun, fields)
  published.next(keepPolicy)
  if (shardsAtOnce === null) return everyStream.next(published)
  return everyStream.next(shards(scope, { syncStream, atOnce: shardsAtOnce, next: published }))
}

/** Keeps the policy of credit limits where the users were read. Its failure is its own: it has an alarm, and the run goes on. */
function policyStep(scope: Construct, applyPolicy: IFunction, ended: IChainable): IChainable {
  const look = new Pass(scope, 'WereUsersRead', {
    parameters: { 'due.$': `States.ArrayContains($.streams, '${organizationUsers.name}')` },
    resultPath: '$.policy',
  })
  const task = new LambdaInvoke(scope, 'ApplyCreditPolicy', {
    lambdaFunction: applyPolicy,
    payloadResponseOnly: true,
    payload: payloadOf('schedule', 'scheduledAt'),
    resultPath: '$.policy',
  })
  retry(task, { seconds: 60, times: 5 }).addCatch(ended, { resultPath: '$.policy' })
  const due = Condition.booleanEquals('$.policy.due', true)
  return look.next(new Choice(scope, 'IsPolicyDue').when(due, task.next(ended)).otherwise(ended))
}

type Report = { writeReport: IFunction; reporting: readonly string[]; ended: IChainable }

/** Writes the page of a night. Its failure is its own: it has an alarm, and the run ends as it would. */
function reportStep(scope: Construct, { writeReport, reporting, ended }: Report): IChainable {
  const task = new LambdaInvoke(scope, 'WriteReport', {
    lambdaFunction: writeReport,
    payloadResponseOnly: true,
    payload: payloadOf('schedule', 'scheduledAt'),
    resultPath: '$.report',
  })
  retry(task, { seconds: 60, times: 2 }).addCatch(ended, { resultPath: '$.report' })
  const due = Condition.or(...reporting.map((name) => Condition.stringEquals('$.schedule', name)))
  return new Choice(scope, 'IsReportDue').when(due, task.next(ended)).otherwise(ended)
}

type Shards = { syncStream: IFunction; atOnce: number; next: IChainable }

/** Reads the shards, each an execution of its own, so that their number and their history are bounded by nothing here. */
function shards(scope: Construct, { syncStream, atOnce, next }: Shards): IChainable {
  const everyShard = new DistributedMap(scope, 'EveryShard', {
    label: shardsLabel,
    itemsPath: '$.shards',
    itemSelector: firstStep,
    maxConcurrency: atOnce,
    // A shard that fails is told at the end, and keeps none of the others back.
    toleratedFailurePercentage: 100,
    resultPath: '$.shardOutcomes',
  }).itemProcessor(streamSteps({ scope, syncStream, nameOf: (step) => `${step}OfShard`, death: shortDeath }))
  const none = new Pass(scope, 'NoShards', {
    parameters: {
      ...Object.fromEntries([...runFields, 'streams'].map((field) => [`${field}.$`, `$.${field}`])),
      shards: [],
      shardOutcomes: [],
    },
  })
  const unknown = new Pass(scope, 'ShardsUnknown', { result: Result.fromArray([]), resultPath: '$.shardOutcomes' })
  unknown.next(next)
  everyShard.addCatch(unknown, { resultPath: '$.shardsError' })
  everyShard.next(next)
  none.next(next)
  return new Choice(scope, 'AreThereShards').when(Condition.isPresent('$.shards[0]'), everyShard).otherwise(none)
}

const runFields = ['schedule', 'scheduledAt', 'outcomes'] as const

function publish(scope: Construct, publishRun: IFunction, fields: readonly string[]) {
  const task = new LambdaInvoke(scope, 'PublishRun', {
    lambdaFunction: publishRun,
    payloadResponseOnly: true,
    payload: payloadOf(...fields),
    resultPath: '$.run',
  })
  return retry(task, { seconds: 60, times: 5 })
}

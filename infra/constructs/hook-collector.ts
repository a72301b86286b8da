import { CfnOutput, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import { HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { hookPath } from '../../lib/hooks/collector/receive.ts'
import { hooksTable } from '../../lib/stores/hook-claims.ts'
import { gatherSeconds, hookQueue, storeSeconds } from '../../lib/stores/hook-queue.ts'
import { lakeBucket } from '../../lib/stores/resources.ts'
import type { Config } from '../config.ts'
import type { Names } from '../names.ts'
import { grantCollectHooks, grantStoreHooks, type Resources } from './grants.ts'
import { type FunctionCommons, WorkerFunction } from './worker-function.ts'

type Props = {
  names: Names
  hooks: Config['hooks']
  /** What is kept of what says something about people. */
  privacy: Record<string, string>
  common: Omit<FunctionCommons, 'environment'>
  resources: Resources
}

/** The collector of hook events: requests become messages, messages become objects in the lake bucket. */
export class HookCollector extends Construct {
  readonly collect: WorkerFunction
  readonly store: WorkerFunction
  readonly api: HttpApi

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, hooks, common, resources } = props
    this.collect = new WorkerFunction(this, 'Collect', {
      ...common,
      environment: { HOOKS_QUEUE_URL: queueUrl(this, names), HOOKS_SECRET_ID: hooks.secretName },
      name: 'collect-hook-events',
      memoryMegabytes: 256,
      timeout: Duration.seconds(10),
    })
    this.store = new WorkerFunction(this, 'Store', {
      ...common,
      environment: storeEnvironment(props),
      name: 'store-hook-events',
      memoryMegabytes: 512,
      timeout: Duration.seconds(storeSeconds),
    })
    grantCollectHooks(this.collect, resources, hooks.secretName)
    grantStoreHooks(this.store, resources)
    this.storeWhatComes(names)
    this.api = new HttpApi(this, 'Api', {
      apiName: `${names.prefix}-hooks`,
      description: `${names.prefix}: takes in hook events of machines.`,
      createDefaultStage: false,
    })
    this.openTo(props)
    new CfnOutput(Stack.of(this), 'HOOKS_URL', { value: `${this.api.apiEndpoint}${hookPath}` })
  }

  /** Few functions at once: they write larger objects, and a flood waits on the queue. */
  private storeWhatComes(names: Names) {
    const mapping = this.store.lambda.addEventSourceMapping('Queue', {
      eventSourceArn: Stack.of(this).formatArn({ service: 'sqs', resource: names.queue(hookQueue) }),
      batchSize: 100,
      maxBatchingWindow: Duration.seconds(gatherSeconds),
      maxConcurrency: 4,
      reportBatchItemFailures: true,
    })
    // Lambda refuses a mapping whose function may not read the queue yet.
    mapping.node.addDependency(this.store.role)
  }

  /** One path, one method, and a limit that holds before any function runs. */
  private openTo({ names, hooks, common }: Props) {
    const [route] = this.api.addRoutes({
      path: hookPath,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Integration', this.collect.lambda),
    })
    Validations.of(route!).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'The function itself compares the bearer token, in constant time and with two that are valid at once.',
    })
    const logGroup = new LogGroup(this, 'Requests', {
      // This prefix keeps the resource policy of CloudWatch Logs from growing with each log group.
      logGroupName: `/aws/vendedlogs/apis/${names.prefix}-hooks`,
      retention: common.logDays,
      // Its name is fixed: a group that stayed behind would be in the way of the next deployment.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: hooks.requestsPerSecond, burstLimit: 2 * hooks.requestsPerSecond },
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: accessLines },
    })
  }
}

/** Who asked when, and what was answered; no header and no body. */
const accessLines = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTimeEpoch',
    ip: '$context.identity.sourceIp',
    status: '$context.status',
    responseMs: '$context.responseLatency',
    error: '$context.error.message',
  }),
)

function queueUrl(scope: Construct, names: Names): string {
  const { region, account, urlSuffix } = Stack.of(scope)
  return `https://sqs.${region}.${urlSuffix}/${account}/${names.queue(hookQueue)}`
}

function storeEnvironment({ names, hooks, privacy }: Props): Record<string, string> {
  return {
    REDACTION_SECRET_ID: names.redactionSecret,
    [lakeBucket.variable]: names.bucket(lakeBucket),
    [hooksTable.variable]: names.table(hooksTable),
    HOOKS_CWD: hooks.cwd,
    HOOKS_HOST: hooks.host,
    ...privacy,
  }
}

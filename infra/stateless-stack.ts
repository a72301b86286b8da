import { type App, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { lakeBucket, recordsTable, stateTable } from '../lib/stores/resources.ts'
import type { Config } from './config.ts'
import { Alarms } from './constructs/alarms.ts'
import { grantPublishRun, grantSyncStream } from './constructs/grants.ts'
import { Overview } from './constructs/overview.ts'
import { Schedules } from './constructs/schedules.ts'
import { SyncMachine } from './constructs/sync-machine.ts'
import { WorkerFunction } from './constructs/worker-function.ts'
import { type Names, namesOf } from './names.ts'

/** What runs: functions, the state machine, schedules, alarms. It can be removed and deployed again at any time. */
export class StatelessStack extends Stack {
  constructor(scope: App, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    const { config } = props
    const names = namesOf(config.name)
    const keyArn = StringParameter.valueForStringParameter(this, names.keyParameter)
    const undelivered = Queue.fromQueueArn(
      this,
      'Undelivered',
      this.formatArn({ service: 'sqs', resource: names.startDeadLetters }),
    )
    const functions = this.functions(config, names, keyArn)
    const { machine } = new SyncMachine(this, 'Sync', {
      names,
      logDays: config.retention.logDays,
      syncStream: functions.syncStream.lambda,
      publishRun: functions.publishRun.lambda,
    })
    new Schedules(this, 'Schedules', { names, schedules: config.schedules, machine, undelivered, keyArn })
    const topic = this.alarmTopic(names, config, keyArn)
    const lambdas = { 'sync-stream': functions.syncStream.lambda, 'publish-run': functions.publishRun.lambda }
    new Alarms(this, 'Alarms', { names, config, topic, machine, functions: lambdas, undelivered })
    new Overview(this, 'Overview', { names, config, machine, functions: lambdas })
  }

  private functions(config: Config, names: Names, keyArn: string) {
    const { platform, eventBus, retention } = config
    const { database } = names
    const common = { names, logDays: retention.logDays as RetentionDays, environment: environmentOf(config, names) }
    const syncStream = new WorkerFunction(this, 'SyncStream', {
      ...common,
      name: 'sync-stream',
      // A whole processor: below 1,769 MB a function gets a share of one.
      memoryMegabytes: 1_769,
      timeout: Duration.minutes(15),
    })
    const publishRun = new WorkerFunction(this, 'PublishRun', {
      ...common,
      name: 'publish-run',
      memoryMegabytes: 512,
      timeout: Duration.minutes(5),
    })
    const resources = { names, keyArn, database, eventBus, platformSecret: platform.secretName }
    grantSyncStream(syncStream, resources)
    grantPublishRun(publishRun, resources)
    return { syncStream, publishRun }
  }

  private alarmTopic(names: Names, { alarmEmail }: Config, keyArn: string): Topic {
    const topic = new Topic(this, 'AlarmTopic', {
      topicName: names.alarmTopic,
      masterKey: Key.fromKeyArn(this, 'DataKey', keyArn),
      enforceSSL: true,
    })
    // The policy that demands TLS replaces the one that a topic has by default, under which alarms may publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
    )
    if (alarmEmail) topic.addSubscription(new EmailSubscription(alarmEmail))
    return topic
  }
}

/** What the functions read from their environment (lib/core/env.ts). */
const environmentOf = ({ platform, eventBus }: Config, names: Names): Record<string, string> => ({
  PLATFORM_APP_URL: platform.appUrl,
  PLATFORM_BASE_URL: platform.baseUrl,
  PLATFORM_SECRET_ID: platform.secretName,
  REDACTION_SECRET_ID: names.redactionSecret,
  [stateTable.variable]: names.table(stateTable),
  [recordsTable.variable]: names.table(recordsTable),
  [lakeBucket.variable]: names.bucket(lakeBucket),
  CATALOG_DATABASE: names.database,
  EVENT_BUS: eventBus,
})

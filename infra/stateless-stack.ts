import { type App, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { hooksTable } from '../lib/stores/hook-claims.ts'
import { hookDeadLetters, hookQueue } from '../lib/stores/hook-queue.ts'
import { limitsTable } from '../lib/stores/ledger-items.ts'
import { limitsDeadLetters, limitsQueue } from '../lib/stores/limits-queue.ts'
import { auditBucket, lakeBucket, recordsTable, stateTable } from '../lib/stores/resources.ts'
import type { Network } from './choices.ts'
import { type Config, privacyText, reportingIn, schedulesText, watchRulesText } from './config.ts'
import { Alarms } from './constructs/alarms.ts'
import { AuditDigest } from './constructs/audit.ts'
import { grantPublishRun, grantSyncStream, grantWriteReport, type Resources } from './constructs/grants.ts'
import { HookCollector } from './constructs/hook-collector.ts'
import { Limits } from './constructs/limits.ts'
import { Overview } from './constructs/overview.ts'
import { Schedules } from './constructs/schedules.ts'
import { SyncMachine } from './constructs/sync-machine.ts'
import { type FunctionCommons, WorkerFunction, wholeProcessor } from './constructs/worker-function.ts'
import { type Names, namesOf } from './names.ts'

/** What runs: functions, the state machine, schedules, alarms. It can be removed and deployed again at any time. */
export class StatelessStack extends Stack {
  constructor(scope: App, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    const { config } = props
    const names = namesOf(config.name)
    const keyArn = StringParameter.valueForStringParameter(this, names.keyParameter)
    const undelivered = this.queue('Undelivered', names.startDeadLetters)
    const { collector, writeReport, ...functions } = this.functions({ config, names, keyArn, undelivered })
    const { machine } = new SyncMachine(this, 'Sync', {
      names,
      logDays: config.retention.logDays,
      syncStream: functions.syncStream.lambda,
      publishRun: functions.publishRun.lambda,
      applyPolicy: functions.applyPolicy.lambda,
      writeReport: writeReport?.lambda ?? null,
      reporting: reportingIn(config),
      shardsAtOnce: config.messages.enabled ? config.messages.concurrency : null,
    })
    new Schedules(this, 'Schedules', { names, schedules: config.schedules, machine, undelivered, keyArn })
    const topic = this.alarmTopic(names, config, keyArn)
    const others = [writeReport, collector?.collect, collector?.store].filter((each) => each != null)
    const workers = [...Object.values(functions), ...others]
    const lambdas = Object.fromEntries(workers.map(({ name, lambda }) => [name, lambda]))
    const queues = {
      undelivered,
      limits: this.queue('LimitsQueue', names.queue(limitsQueue)),
      deadLetters: this.queue('LimitsDeadLetters', names.queue(limitsDeadLetters)),
    }
    const watched = { names, config, machine, functions: lambdas, queues, collector: this.watched(collector, names) }
    new Alarms(this, 'Alarms', { ...watched, topic })
    new Overview(this, 'Overview', watched)
  }

  /** A queue of the stateful stack. */
  private queue(id: string, name: string): IQueue {
    return Queue.fromQueueArn(this, id, this.formatArn({ service: 'sqs', resource: name }))
  }

  private watched(collector: HookCollector | null, names: Names) {
    return collector
      ? {
          apiId: collector.api.apiId,
          queue: this.queue('HookEventsQueue', names.queue(hookQueue)),
          deadLetters: this.queue('HookEventsDeadLetters', names.queue(hookDeadLetters)),
        }
      : null
  }

  private functions({ config, names, keyArn, undelivered }: Installed) {
    const signingKeyArn = StringParameter.valueForStringParameter(this, names.signingKeyParameter)
    const resources = {
      names,
      keyArn,
      signingKeyArn,
      database: names.database,
      eventBus: config.eventBus,
      platformSecret: config.platform.secretName,
      secretsKeyArn: config.secrets.kmsKeyArn,
    }
    const logDays = config.retention.logDays as RetentionDays
    const { network, reservedConcurrency } = config
    const placed = { names, logDays, network, reservedConcurrency }
    const common = { ...placed, environment: environmentOf(config, names) }
    const recording = { ...common, environment: { ...common.environment, ...auditEnvironmentOf(names, signingKeyArn) } }
    const syncStream = new WorkerFunction(this, 'SyncStream', {
      ...recording,
      environment: {
        ...recording.environment,
        AUDIT_WATCH_RULES: watchRulesText(config.watchRules),
        ...privacyEnvironmentOf(config),
        [limitsTable.variable]: names.table(limitsTable),
        ...(config.hooks.enabled ? { [hooksTable.variable]: names.table(hooksTable) } : {}),
      },
      name: 'sync-stream',
      memoryMegabytes: wholeProcessor,
      timeout: Duration.minutes(15),
    })
    const publishRun = this.publisher(config, common, resources)
    const writeReport = reportingIn(config).length > 0 ? this.reportWriter(config, common, resources) : null
    grantSyncStream(syncStream, resources)
    const audit = new AuditDigest(this, 'Audit', { names, common: recording, resources, undelivered })
    const platformOnly = { ...common, environment: platformEnvironmentOf(config) }
    const limits = new Limits(this, 'Limits', { names, config, common: platformOnly, resources })
    const collecting = { names, hooks: config.hooks, privacy: privacyEnvironmentOf(config) }
    const collector = config.hooks.enabled
      ? new HookCollector(this, 'Hooks', { ...collecting, common: placed, resources })
      : null
    return {
      ...{ syncStream, publishRun, auditDigest: audit.worker, collector, writeReport },
      ...{ applyLimits: limits.apply, importLimits: limits.import, applyPolicy: limits.policy },
    }
  }

  private publisher(config: Config, common: FunctionCommons, resources: Resources): WorkerFunction {
    const { environment, names } = common
    const schedules = { RUN_SCHEDULES: schedulesText(config) }
    const publishRun = new WorkerFunction(this, 'PublishRun', {
      ...common,
      environment: { ...environment, ...publishEnvironmentOf(config, names), ...schedules },
      name: 'publish-run',
      // The rows of a file are in memory while they are merged, and a first sync has many files.
      memoryMegabytes: wholeProcessor,
      timeout: Duration.minutes(15),
    })
    grantPublishRun(publishRun, resources)
    return publishRun
  }

  private reportWriter(config: Config, common: FunctionCommons, resources: Resources): WorkerFunction {
    const writeReport = new WorkerFunction(this, 'WriteReport', {
      ...{ ...common, environment: reportEnvironmentOf(config, common.names) },
      name: 'write-report',
      // The rows of a file are in memory while the pictures are drawn.
      memoryMegabytes: wholeProcessor,
      timeout: Duration.minutes(10),
    })
    grantWriteReport(writeReport, resources)
    return writeReport
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

type Installed = { config: Config; names: Names; keyArn: string; undelivered: IQueue }

function platformEnvironmentOf({ platform, network }: Config): Record<string, string> {
  return {
    PLATFORM_APP_URL: platform.appUrl,
    PLATFORM_BASE_URL: platform.baseUrl,
    PLATFORM_SECRET_ID: platform.secretName,
    ...(platform.requestsPerSecond ? { PLATFORM_REQUESTS_PER_SECOND: String(platform.requestsPerSecond) } : {}),
    ...proxyEnvironmentOf(network),
  }
}

/** What Node reads when it starts: its own agents take the proxy then. The SDK has agents of its own, which do not. */
function proxyEnvironmentOf({ httpsProxy, noProxy }: Network): Record<string, string> {
  if (httpsProxy === undefined) return {}
  return {
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: httpsProxy,
    NO_PROXY: ['localhost', '127.0.0.1', ...noProxy].join(','),
  }
}

/** What functions read from their environment (lib/core/env.ts). */
function environmentOf(config: Config, names: Names): Record<string, string> {
  return {
    ...platformEnvironmentOf(config),
    REDACTION_SECRET_ID: names.redactionSecret,
    [stateTable.variable]: names.table(stateTable),
    [recordsTable.variable]: names.table(recordsTable),
    [lakeBucket.variable]: names.bucket(lakeBucket),
    CATALOG_DATABASE: names.database,
    EVENT_BUS: config.eventBus,
    ...(config.messages.enabled ? { MESSAGES_ENABLED: 'true' } : {}),
  }
}

/** What those read, besides, that store records. */
function privacyEnvironmentOf({ messages, privacy }: Config): Record<string, string> {
  return {
    MESSAGES_CONTENT: messages.content,
    MESSAGES_CONTENT_BY_ROLE: JSON.stringify(messages.roles),
    MESSAGES_ATTACHMENTS: messages.attachments,
    PRIVACY_FIELDS: privacyText(privacy),
  }
}

/** What the one reads, besides, that keeps the Iceberg tables and tells which choices were in force. */
function publishEnvironmentOf(config: Config, names: Names): Record<string, string> {
  const { retention } = config
  return {
    ...privacyEnvironmentOf(config),
    ICEBERG_DATABASE: names.icebergDatabase,
    SNAPSHOT_DAYS: String(retention.snapshotDays),
    SNAPSHOT_COUNT: String(retention.snapshots),
  }
}

/** What the one reads that makes the nightly page. It asks no platform. */
function reportEnvironmentOf(config: Config, names: Names): Record<string, string> {
  return {
    [stateTable.variable]: names.table(stateTable),
    [lakeBucket.variable]: names.bucket(lakeBucket),
    ICEBERG_DATABASE: names.icebergDatabase,
    RUN_SCHEDULES: schedulesText(config),
    ...(config.messages.enabled ? { MESSAGES_ENABLED: 'true' } : {}),
  }
}

/** What those read, besides, that append to the audit trail. */
function auditEnvironmentOf(names: Names, signingKeyArn: string): Record<string, string> {
  return {
    [auditBucket.variable]: names.bucket(auditBucket),
    AUDIT_SIGNING_KEY_ARN: signingKeyArn,
  }
}

import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import { latestReportKey } from '../../lib/stores/lake-paths.ts'
import { lakeBucket } from '../../lib/stores/resources.ts'
import { type Config, reportingIn } from '../config.ts'
import type { Names } from '../names.ts'
import { awsMetric, measurementsOf, sumOf } from './measurements.ts'

/** The queues of an installation. */
type AlarmedQueues = { undelivered: IQueue; limits: IQueue; deadLetters: IQueue }

/** What is watched of the collector of hook events. */
type WatchedCollector = { apiId: string; queue: IQueue; deadLetters: IQueue }

/** What alarms and the dashboard look at. */
export type Watched = {
  names: Names
  config: Config
  machine: StateMachine
  functions: Record<string, IFunction>
  queues: AlarmedQueues
  /** Null where it is not enabled. */
  collector: WatchedCollector | null
}

type Props = Watched & { topic: ITopic }

const hour = Duration.hours(1)
const quarter = Duration.minutes(15)
/** As long as a digest promises that the next one takes at most (lib/audit/audit.ts). */
const digestHours = 26

/** One alarm per promise that can be broken; docs/operations.md says under the same name what to do. */
export class Alarms extends Construct {
  private readonly props: Props

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    this.props = props
    this.streams()
    this.schedules()
    this.machinery()
    this.starts()
    this.limits()
    if (props.collector) this.hooks(props.collector)
    this.audit()
  }

  private streams() {
    const { names, config } = this.props
    const { ofAll } = measurementsOf(names)
    const any = { period: quarter }
    this.whenAny('stream-failed', ofAll('StreamFailed', config.streams, any), 'A stream could not be read to its end.')
    this.whenAny(
      'stream-suspect',
      ofAll('StreamSuspect', config.streams, any),
      'Too many records are missing from a list, or can not be used: nothing was deleted, and someone must look.',
    )
    this.whenAny(
      'records-quarantined',
      ofAll('RecordsQuarantined', config.streams, any),
      'Records came that no table can take; they are kept in quarantine/ with the reason.',
    )
  }

  private schedules() {
    const { names, config } = this.props
    const { ofSchedule } = measurementsOf(names)
    for (const [schedule, { alarmAfterHours }] of Object.entries(config.schedules)) {
      this.alarm(`${schedule}-not-complete`, {
        alarmName: names.scheduleAlarm(schedule),
        metric: ofSchedule('RunComplete', schedule, { period: hour }),
        description: `No complete run of the schedule ${schedule} in ${alarmAfterHours} hours.`,
        below: true,
        periods: alarmAfterHours,
      })
    }
  }

  private machinery() {
    const { machine, functions } = this.props
    const ended = new MathExpression({
      expression: 'failed + timedOut + aborted',
      usingMetrics: {
        failed: machine.metricFailed({ period: quarter }),
        timedOut: machine.metricTimedOut({ period: quarter }),
        aborted: machine.metricAborted({ period: quarter }),
      },
      label: 'Runs that failed',
      period: quarter,
    })
    this.whenAny('run-failed', ended, 'A run ended as failed; the reason is in the execution.')
    for (const [name, lambda] of Object.entries(functions)) {
      const trouble = new MathExpression({
        expression: 'errors + throttles',
        usingMetrics: {
          errors: lambda.metricErrors({ period: quarter }),
          throttles: lambda.metricThrottles({ period: quarter }),
        },
        label: name,
        period: quarter,
      })
      this.whenAny(`${name}-errors`, trouble, `The function ${name} threw, was killed, or was throttled.`)
    }
  }

  /** What fires and reaches nobody. A schedule that never fires is seen by what is not complete, or not signed. */
  private starts() {
    const { names, queues } = this.props
    const waiting = queues.undelivered.metricApproximateNumberOfMessagesVisible({ period: quarter })
    this.whenAny('start-undelivered', waiting, 'A schedule fired and nothing could be started.')
    const of = (service: string, metricName: string, dimensionsMap: Record<string, string>) =>
      awsMetric({ namespace: `AWS/${service}`, metricName, dimensionsMap, period: quarter })
    const dropped = Object.values(names.scheduleGroups).map((group) =>
      of('Scheduler', 'InvocationDroppedCount', { ScheduleGroup: group }),
    )
    const givenUp = sumOf(dropped, { period: quarter, label: 'Starts that were given up' })
    this.whenAny('schedule-refused', givenUp, 'What a schedule starts refused it.')
    const refused = (['inbox', 'policy'] as const).map((rule) =>
      of('Events', 'FailedInvocations', { RuleName: names.rule(rule) }),
    )
    const unheard = sumOf(refused, { period: quarter, label: 'Notifications that reached nobody' })
    this.whenAny('rule-refused', unheard, 'What a rule calls refused it.')
  }

  private limits() {
    const { names, queues } = this.props
    const { ofAny } = measurementsOf(names)
    const any = { period: quarter }
    this.whenAny(
      'limits-failed',
      ofAny('LimitsFailed', any),
      'Credit limits did not come to be as they were asked for.',
    )
    this.whenAny(
      'limit-messages-failed',
      ofAny('LimitMessagesFailed', any),
      'Messages with credit limits went back to the queue.',
    )
    this.whenAny(
      'limits-plan-waits',
      ofAny('PolicyPlansWaiting', any),
      'A plan of the policy of credit limits is outside of its guard, and waits for somebody to approve it.',
    )
    this.whenAny(
      'limits-policy-failed',
      ofAny('PolicyFailed', any),
      'The policy of credit limits changed nothing: it has a mistake, or may not be applied.',
    )
    this.alarm('inbox-file-waits', {
      metric: ofAny('InboxFilesWaiting', { period: hour }),
      description: 'A file lies in the inbox for more than an hour, or nobody looked.',
      below: false,
      periods: 1,
      silenceIsTrouble: true,
    })
    this.whenOld('limit-messages-late', queues.limits, 'Messages with credit limits wait for more than an hour.')
    const dead = queues.deadLetters.metricApproximateNumberOfMessagesVisible(any)
    this.whenAny('limit-dead-letters', dead, 'Messages with credit limits failed five times and wait for somebody.')
  }

  private hooks({ apiId, queue, deadLetters }: WatchedCollector) {
    const any = { period: quarter }
    const dead = deadLetters.metricApproximateNumberOfMessagesVisible(any)
    this.whenAny('hook-dead-letters', dead, 'Messages with hook events failed five times, and are gone after 14 days.')
    this.whenOld('hook-events-late', queue, 'Hook events wait on the queue for more than an hour.')
    const failed = awsMetric({
      namespace: 'AWS/ApiGateway',
      metricName: '5xx',
      dimensionsMap: { ApiId: apiId },
      period: quarter,
      label: 'Requests that were answered with 5xx',
    })
    this.whenAny('hook-requests-failed', failed, 'The collector could not take hook events in; machines keep them.')
  }

  private audit() {
    const { ofAny } = measurementsOf(this.props.names)
    this.whenAny(
      'audit-findings',
      ofAny('AuditFindings', { period: quarter }),
      'Something is wrong with the history of the settings, or with its evidence.',
    )
    this.alarm('audit-digest-missing', {
      metric: ofAny('AuditDigests', { period: hour }),
      description: `No digest of the audit trail was signed in ${digestHours} hours.`,
      below: true,
      periods: digestHours,
    })
  }

  /** Where whoever reads the mail finds how the last night went. */
  private page(): string {
    const { names, config } = this.props
    const page = `s3://${names.bucket(lakeBucket)}/${latestReportKey}`
    return reportingIn(config).length > 0 ? ` The page of the last night: ${page}` : ''
  }

  /** Nobody takes messages up: the worker fails, or its event source is disabled. */
  private whenOld(name: string, queue: IQueue, description: string) {
    const late = new MathExpression({
      expression: `IF(age > ${hour.toSeconds()}, 1, 0)`,
      usingMetrics: { age: queue.metricApproximateAgeOfOldestMessage({ period: quarter }) },
      label: 'The oldest message is older than an hour',
      period: quarter,
    })
    this.whenAny(name, late, description)
  }

  private whenAny(name: string, metric: IMetric, description: string) {
    this.alarm(name, { metric, description, below: false, periods: 1 })
  }

  private alarm(name: string, { metric, description, below, periods, ...terms }: Terms) {
    const { alarmName = this.props.names.alarm(name), silenceIsTrouble = below } = terms
    const alarm = new Alarm(this, name, {
      alarmName,
      alarmDescription: `${description} See docs/operations.md, "${name}".${this.page()}`,
      metric,
      threshold: below ? 1 : 0,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: periods,
      // No run at all is worse than one that failed; no trouble at all is none.
      treatMissingData: silenceIsTrouble ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
    alarm.addAlarmAction(new SnsAction(this.props.topic))
    alarm.addOkAction(new SnsAction(this.props.topic))
  }
}

type Terms = {
  /** Where it is not called by its own name. */
  alarmName?: string
  metric: IMetric
  description: string
  below: boolean
  periods: number
  /** Whether it is as bad when nothing is measured at all. */
  silenceIsTrouble?: boolean
}

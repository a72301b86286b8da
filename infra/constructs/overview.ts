import { Duration } from 'aws-cdk-lib'
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import type { MetricName } from '../../lib/core/metrics.ts'
import { limitsTable } from '../../lib/stores/ledger-items.ts'
import { recordsTable, stateTable } from '../../lib/stores/resources.ts'
import type { Watched } from './alarms.ts'
import { awsMetric, measurementsOf } from './measurements.ts'

const day = Duration.days(1)
const hour = Duration.hours(1)

/** The dashboard, a row per question of an operator. */
export class Overview extends Construct {
  constructor(scope: Construct, id: string, props: Watched) {
    super(scope, id)
    new Dashboard(this, 'Dashboard', {
      dashboardName: props.names.prefix,
      defaultInterval: Duration.days(14),
      widgets: [
        [heading('Did last night complete?')],
        lastNight(props),
        ...streamRows(props),
        ...limitsRows(props),
        ...hookRows(props),
        ...auditRows(props),
        [heading('What does it cost? (docs/operations.md has the prices)')],
        costs(props).map(([title, metrics]) => graph(title, metrics, 6)),
      ],
    })
  }
}

function graph(title: string, left: IMetric[], width = 8) {
  return new GraphWidget({ title, left, width, height: 6 })
}

function lastNight({ names, config }: Watched): IWidget[] {
  const { ofSchedule, ofAll } = measurementsOf(names)
  const runs = Object.keys(config.schedules).map((label) => ofSchedule('RunComplete', label, { period: day, label }))
  const trouble = (['StreamFailed', 'StreamSuspect'] as const).map((name) =>
    ofAll(name, config.streams, { period: day }),
  )
  return [
    new SingleValueWidget({ title: 'Complete runs in the last 24 hours', metrics: runs, width: 12 }),
    new SingleValueWidget({ title: 'Trouble in the last 24 hours', metrics: trouble, width: 12 }),
  ]
}

function streamRows({ names, config }: Watched): IWidget[][] {
  const { ofStream } = measurementsOf(names)
  const perStream = (name: MetricName) => config.streams.map((stream) => ofStream(name, stream, { period: hour }))
  return [
    [heading('How fresh is each stream, and how much changed?')],
    [
      graph('Complete scans per hour', perStream('StreamComplete')),
      graph('Records changed', perStream('RecordsChanged')),
      graph('Records deleted', perStream('RecordsDeleted')),
    ],
    [heading('What was quarantined, and what does the API send that we do not know?')],
    [
      graph('Records in quarantine', perStream('RecordsQuarantined')),
      graph('Records with unknown fields or values', perStream('FieldsDrifted')),
      graph('Requests that were repeated', perStream('ApiRetries')),
    ],
    [
      graph('Values of an unforeseen form', perStream('FieldsInvalid'), 12),
      graph('Seconds from the start of a scan to its end', perStream('ScanSeconds'), 12),
    ],
  ]
}

function limitsRows({ names, queues: { limits, deadLetters } }: Watched): IWidget[][] {
  const { ofAny } = measurementsOf(names)
  const waiting = [
    limits.metricApproximateNumberOfMessagesVisible({ label: 'waiting', period: hour }),
    limits.metricApproximateNumberOfMessagesNotVisible({ label: 'at work, or pausing', period: hour }),
    deadLetters.metricApproximateNumberOfMessagesVisible({ label: 'dead letters', period: hour }),
  ]
  const ended = (['LimitsApplied', 'LimitsFailed', 'LimitsSuperseded'] as const).map((name) =>
    ofAny(name, { period: hour }),
  )
  return [
    [heading('What became of credit limits?')],
    [
      graph('Entries by outcome', ended),
      graph('Messages', waiting),
      graph('Messages that went back to the queue', [ofAny('LimitMessagesFailed', { period: hour })]),
    ],
  ]
}

function hookRows({ names, collector }: Watched): IWidget[][] {
  if (!collector) return []
  const { ofAny } = measurementsOf(names)
  const hourly = (...metrics: MetricName[]) => metrics.map((name) => ofAny(name, { period: hour }))
  const waiting = [
    collector.queue.metricApproximateNumberOfMessagesVisible({ label: 'waiting', period: hour }),
    collector.deadLetters.metricApproximateNumberOfMessagesVisible({ label: 'dead letters', period: hour }),
  ]
  return [
    [heading("What comes from people's machines?")],
    [
      graph('Hook events', hourly('HookEventsReceived', 'HookEventsStored')),
      graph('Refused, and sent more than once', hourly('HookEventsRefused', 'HookEventsRepeated')),
      graph('Messages', waiting),
    ],
  ]
}

function auditRows({ names }: Watched): IWidget[][] {
  const { ofAny } = measurementsOf(names)
  const daily = (...metrics: MetricName[]) => metrics.map((name) => ofAny(name, { period: day }))
  return [
    [heading('Does the audit trail grow and hold?')],
    [
      graph('Revisions recorded a day', daily('AuditEntries')),
      graph('Findings, and changes that deserve attention', daily('AuditFindings', 'AuditWatchMatches')),
      graph('Digests signed a day', daily('AuditDigests')),
    ],
  ]
}

function heading(text: string) {
  return new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 })
}

/** What is billed by use, per day. */
function costs({ names, machine, functions }: Watched): [string, IMetric[]][] {
  const consumed = (kind: 'Read' | 'Write') =>
    [stateTable, recordsTable, limitsTable].map((shape) =>
      awsMetric({
        namespace: 'AWS/DynamoDB',
        metricName: `Consumed${kind}CapacityUnits`,
        dimensionsMap: { TableName: names.table(shape) },
        label: `${shape.name}, ${kind.toLowerCase()}`,
        period: day,
      }),
    )
  const transitions = awsMetric({
    namespace: 'AWS/States',
    metricName: 'ExecutionsStarted',
    dimensionsMap: { StateMachineArn: machine.stateMachineArn },
    period: day,
  })
  const durations = Object.entries(functions).map(([label, lambda]) =>
    lambda.metricDuration({ statistic: 'Sum', label, period: day }),
  )
  return [
    ['DynamoDB request units a day', [...consumed('Read'), ...consumed('Write')]],
    ['Milliseconds of functions a day', durations],
    ['Invocations a day', Object.values(functions).map((lambda) => lambda.metricInvocations({ period: day }))],
    ['Runs a day', [transitions]],
  ]
}

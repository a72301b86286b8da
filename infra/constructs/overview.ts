import { Duration } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, type IMetric, SingleValueWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { MetricName } from '../../lib/core/metrics.ts'
import { recordsTable, stateTable } from '../../lib/stores/resources.ts'
import type { Config } from '../config.ts'
import type { Names } from '../names.ts'
import { awsMetric, measurementsOf } from './measurements.ts'

type Props = { names: Names; config: Config; machine: StateMachine; functions: Record<string, IFunction> }

const day = Duration.days(1)
const hour = Duration.hours(1)

/** The dashboard, a row per question of an operator. */
export class Overview extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, config } = props
    const { ofSchedule, ofStream, ofAll } = measurementsOf(names)
    const perStream = (name: MetricName, period: Duration) =>
      config.streams.map((stream) => ofStream(name, stream, { period }))
    const graph = (title: string, left: IMetric[], width = 8) => new GraphWidget({ title, left, width, height: 6 })

    new Dashboard(this, 'Dashboard', {
      dashboardName: names.prefix,
      defaultInterval: Duration.days(14),
      widgets: [
        [heading('Did last night complete?')],
        [
          new SingleValueWidget({
            title: 'Complete runs in the last 24 hours',
            metrics: Object.keys(config.schedules).map((name) => ofSchedule('RunComplete', name, { period: day })),
            width: 12,
          }),
          new SingleValueWidget({
            title: 'Trouble in the last 24 hours',
            metrics: (['StreamFailed', 'StreamSuspect'] as const).map((name) =>
              ofAll(name, config.streams, { period: day }),
            ),
            width: 12,
          }),
        ],
        [heading('How fresh is each stream, and how much changed?')],
        [
          graph('Complete scans per hour', perStream('StreamComplete', hour)),
          graph('Records changed', perStream('RecordsChanged', hour)),
          graph('Records deleted', perStream('RecordsDeleted', hour)),
        ],
        [heading('What was quarantined, and what does the API tell us that we do not know?')],
        [
          graph('Records in quarantine', perStream('RecordsQuarantined', hour)),
          graph('Records with unknown fields or values', perStream('FieldsDrifted', hour)),
          graph('Requests that were repeated', perStream('ApiRetries', hour)),
        ],
        [heading('What does it cost? (docs/operations.md has the prices)')],
        costs(props).map(([title, metrics]) => graph(title, metrics, 6)),
        [graph('Seconds from the start of a scan to its end', perStream('ScanSeconds', hour), 24)],
      ],
    })
  }
}

const heading = (text: string) => new TextWidget({ markdown: `## ${text}`, width: 24, height: 1 })

/** What is billed by use, per day. */
const costs = ({ names, machine, functions }: Props): [string, IMetric[]][] => {
  const consumed = (kind: 'Read' | 'Write') =>
    [stateTable, recordsTable].map((shape) =>
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

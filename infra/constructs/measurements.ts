import type { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, type MetricProps, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../lib/core/metrics.ts'
import type { Names } from '../names.ts'
import { metricNamespace } from './worker-function.ts'

type Options = { period: Duration; label?: string }

/** The worker's own measurements, by the dimensions under which they are sent. */
export function measurementsOf({ prefix: service }: Names) {
  const metric = (name: MetricName, dimensions: Record<string, string>, options: Options) =>
    new Metric({
      namespace: metricNamespace,
      metricName: name,
      dimensionsMap: { service, ...dimensions },
      statistic: Stats.SUM,
      ...options,
    })
  const ofStream = (name: MetricName, stream: string, { period, label = stream }: Options) =>
    metric(name, { stream }, { period, label })

  return {
    ofStream,
    /** What is measured without further dimensions. */
    ofAny: (name: MetricName, { period, label = name }: Options) => metric(name, {}, { period, label }),
    ofSchedule: (name: MetricName, schedule: string, options: Options) => metric(name, { schedule }, options),
    /** Of all streams together: an alarm can add up to ten. */
    ofAll: (name: MetricName, streams: readonly string[], { period, label = name }: Options) => {
      const ids = streams.map((_, i) => `${name.charAt(0).toLowerCase()}${name.slice(1)}${i}`)
      const usingMetrics = Object.fromEntries(streams.map((stream, i) => [ids[i], ofStream(name, stream, { period })]))
      const expression = ids.map((id) => `FILL(${id}, 0)`).join(' + ')
      return new MathExpression({ expression, usingMetrics, label, period })
    },
  }
}

export type Measurements = ReturnType<typeof measurementsOf>

/** A metric of an AWS service. */
export function awsMetric(props: Pick<MetricProps, 'namespace' | 'metricName' | 'dimensionsMap' | 'period' | 'label'>) {
  return new Metric({ ...props, statistic: Stats.SUM })
}

/** Metrics of a service, added. One that has nothing to tell counts as none. */
export function sumOf(metrics: readonly Metric[], { period, label }: Required<Options>): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]))
  const expression = metrics.map((_, i) => `FILL(m${i}, 0)`).join(' + ')
  return new MathExpression({ expression, usingMetrics, label, period })
}

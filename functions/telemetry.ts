import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics as EmbeddedMetrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import type { Context } from 'aws-lambda'
import type { Log } from '../lib/core/log.ts'
import type { Metrics } from '../lib/core/metrics.ts'

/** The way of a function's log lines and measurements. */
export type Telemetry = { log: Log; metrics: Metrics; begin(context: Context): void }

/**
 * Log lines as JSON, measurements in the embedded metric format (each line one metric, since their dimensions differ).
 * Service, namespace and level come from the POWERTOOLS_ variables that the stack sets.
 */
export function createTelemetry(): Telemetry {
  const logger = new Logger()
  const embedded = new EmbeddedMetrics()
  return {
    log: {
      debug: (message, fields = {}) => logger.debug(message, fields),
      info: (message, fields = {}) => logger.info(message, fields),
      warn: (message, fields = {}) => logger.warn(message, fields),
      error: (message, fields = {}) => logger.error(message, fields),
    },
    metrics: {
      count: (name, value, dimensions = {}) => {
        const one = embedded.singleMetric()
        for (const [dimension, of] of Object.entries(dimensions)) one.addDimension(dimension, of)
        one.addMetric(name, name.endsWith('Seconds') ? MetricUnit.Seconds : MetricUnit.Count, value)
      },
    },
    begin: (context) => logger.addContext(context),
  }
}

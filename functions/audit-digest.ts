import type { Context } from 'aws-lambda'
import { writeDailyDigest } from '../lib/audit/verify/daily-digest.ts'
import { composeAudit } from '../lib/compose/audit.ts'
import { processVariables } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { audit, clock } = composeAudit(processVariables(), telemetry)

/** Once a day: verifies the audit trail, writes faults as findings, and signs a digest. */
export async function handler(_event: unknown, context: Context) {
  begin(context)
  if (!audit) throw new FatalError('AUDIT_BUCKET is missing; set it to the audit bucket', { code: 'configuration' })
  const signal = AbortSignal.timeout(context.getRemainingTimeInMillis())
  return writeDailyDigest(audit, { clock, metrics: telemetry.metrics, signal })
}

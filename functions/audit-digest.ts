import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { writeDailyDigest } from '../lib/audit/verify/daily-digest.ts'
import { composeAudit } from '../lib/compose/audit.ts'
import { processVariables } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { audit, clock } = composeAudit(processVariables(), telemetry)
/** A scheduled event as EventBridge Scheduler sends it; a person may leave out all of it, since nothing of it is used. */
const Event = z.object({ source: z.string().optional(), time: z.string().optional() })

/** Verifies the audit trail once a day, writes faults as findings, and signs a digest. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  readEvent(Event, event, 'the schedule')
  if (!audit) throw new FatalError('AUDIT_BUCKET is missing; set it to the audit bucket', { code: 'configuration' })
  const signal = AbortSignal.timeout(context.getRemainingTimeInMillis())
  return writeDailyDigest(audit, { clock, metrics: telemetry.metrics, signal })
}

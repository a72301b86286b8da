import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { writeDailyDigest } from '../lib/audit/verify/daily-digest.ts'
import { compose } from '../lib/compose/app.ts'
import { processVariables } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = compose(processVariables(), doors)
/** A scheduled event as EventBridge Scheduler sends it; a person may leave out all of it, since nothing of it is used. */
const Event = z.object({ source: z.string().optional(), time: z.string().optional() })

/** Verifies the audit trail once a day, writes faults as findings, and signs a digest. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  Event.parse(event)
  if (!app.audit) throw new FatalError('AUDIT_BUCKET is missing; set it to the audit bucket', { code: 'configuration' })
  const signal = AbortSignal.timeout(context.getRemainingTimeInMillis())
  return writeDailyDigest(app.audit, { clock: app.clock, metrics: doors.metrics, signal })
}

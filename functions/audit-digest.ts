import type { Context } from 'aws-lambda'
import { writeDailyDigest } from '../lib/audit/verify/daily-digest.ts'
import { compose } from '../lib/compose/app.ts'
import { processVariables } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = compose(processVariables(), doors)

/** Once a day: verifies the audit trail, writes faults as findings, and signs a digest. */
export async function handler(_event: unknown, context: Context) {
  begin(context)
  if (!app.audit) throw new FatalError('AUDIT_BUCKET is missing; set it to the audit bucket', { code: 'configuration' })
  const signal = AbortSignal.timeout(context.getRemainingTimeInMillis())
  return writeDailyDigest(app.audit, { clock: app.clock, metrics: doors.metrics, signal })
}

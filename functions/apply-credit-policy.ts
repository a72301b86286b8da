import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { composePolicy } from '../lib/compose/limits-policy.ts'
import { processVariables } from '../lib/core/env.ts'
import { applyTriggered } from '../lib/limits/policy/triggered.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { policyDeps } = composePolicy(processVariables(), telemetry)

/** A run that ended, as the state machine tells it, or a notification of S3 that an object came, as EventBridge does. */
const Event = z.union([
  z.object({ detail: z.object({ object: z.object({ key: z.string().min(1) }) }) }),
  z.object({ schedule: z.string(), scheduledAt: z.string() }),
])

/** Keeps the policy of credit limits: after a run, when its file changes, and when somebody approved a plan. */
export async function handler(event: unknown, context: Context): Promise<{ status: string }> {
  begin(context)
  const read = readEvent(Event, event, "the state machine or the inbox's rule of EventBridge")
  return await applyTriggered('detail' in read ? read.detail.object.key : null, policyDeps())
}

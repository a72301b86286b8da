import type { Context } from 'aws-lambda'
import * as z from 'zod'
import { compose } from '../lib/compose/app.ts'
import { processVariables } from '../lib/core/env.ts'
import { stepAfter } from '../lib/publish/steps.ts'
import { streamNamed } from '../lib/streams/index.ts'
import { runOf, ScheduledRun } from '../lib/sync/scheduled-run.ts'
import { syncStream } from '../lib/sync/sync-stream.ts'
import { observe } from './observe.ts'

const { begin, ...doors } = observe()
const app = compose(processVariables(), doors)
const Event = ScheduledRun.extend({ stream: z.string() })

/** One attempt at one stream. Whatever it comes to is data: the state machine decides whether it calls again. */
export async function handler(event: unknown, context: Context) {
  begin(context)
  const { stream, ...occasion } = Event.parse(event)
  const deps = await app.syncDeps({ remainingMs: () => context.getRemainingTimeInMillis() })
  return stepAfter(await syncStream(streamNamed(stream), runOf(occasion), deps))
}

import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as z from 'zod'
import { composeCollect } from '../lib/compose/hooks-collect.ts'
import { processVariables } from '../lib/core/env.ts'
import { headersOf, receive } from '../lib/hooks/collector/receive.ts'
import { readEvent } from './event.ts'
import { createTelemetry } from './telemetry.ts'

const { begin, ...telemetry } = createTelemetry()
const { receiveDeps } = composeCollect(processVariables(), telemetry)

/** A request as an HTTP API hands it over, in payload format 2.0; names of headers are in lower case. */
const Event = z.object({
  headers: z.looseObject({ authorization: z.string().optional() }),
  body: z.string().default(''),
  isBase64Encoded: z.boolean(),
})

/** Takes in events that machines send. */
export async function handler(event: unknown, context: Context): Promise<APIGatewayProxyStructuredResultV2> {
  begin(context)
  const { headers, body, isBase64Encoded } = readEvent(Event, event, 'the HTTP API')
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
  const answer = await receive({ authorization: headers.authorization, body: bytes }, receiveDeps)
  return { statusCode: answer.status, headers: headersOf(answer), body: JSON.stringify(answer.body) }
}

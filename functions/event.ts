import type * as z from 'zod'
import { FatalError } from '../lib/core/errors.ts'
import { firstIssue } from '../lib/core/schema.ts'

/**
 * Reads the event of an invocation.
 * @throws FatalError `bad_request` that says in one sentence where the event is not what its sender sends.
 */
export function readEvent<S extends z.ZodType>(schema: S, event: unknown, sender: string): z.infer<S> {
  const result = schema.safeParse(event)
  if (result.success) return result.data
  const message = `The event is not what ${sender} sends (${firstIssue(result.error, 'the event')}): let ${sender} invoke the function`
  throw new FatalError(message, { code: 'bad_request' })
}

import type * as z from 'zod'
import { FatalError, RejectedError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { firstIssue } from '../core/schema.ts'

/**
 * The value as its rules take it.
 * @throws RejectedError that names the first field which breaks a rule, without its value.
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new RejectedError(`${what} was not sent: ${firstIssue(result.error)}. Correct it and call again.`, {
    code: 'bad_request',
  })
}

/** Query parameters as text; absent ones are left out. */
export function queryOf(parameters: Record<string, string | number | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
  )
}

/** An id as one segment of a path. "." and ".." would be folded into another path. */
export function segment(id: string, field: string): string {
  if (id !== '' && id !== '.' && id !== '..') return encodeURIComponent(id)
  throw new RejectedError(`Nothing was sent: ${field} "${id}" is no id. Correct it and call again.`, {
    code: 'bad_request',
  })
}

/**
 * The body of a success as its schema says.
 * @throws FatalError (`unexpected_body`) that names where it differs, never a value.
 */
export function understood<S extends z.ZodType>(schema: S, body: Json, what: string): z.infer<S> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  throw new FatalError(
    `The answer to ${what} has an unexpected shape: ${firstIssue(result.error)}. The API has changed, or something else ` +
      'answers at this address: check it with "platform-sync doctor".',
    { code: 'unexpected_body' },
  )
}

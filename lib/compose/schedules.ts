import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { firstIssue } from '../core/schema.ts'
import { KnownSchedule } from '../sync/schedules.ts'

/** The schedules that a variable names, none without it. @throws FatalError `configuration` when it is no list of them. */
export function schedulesFrom(text: string | undefined): KnownSchedule[] {
  if (text === undefined) return []
  const result = z.array(KnownSchedule).safeParse(jsonOf(text))
  if (result.success) return result.data
  const message = `RUN_SCHEDULES is no list of schedules (${firstIssue(result.error, 'it')}). The stack sets it; leave it out elsewhere`
  throw new FatalError(message, { code: 'configuration' })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

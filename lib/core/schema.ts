import type * as z from 'zod'

/** The first rule that a value breaks, as "field: rule", never with the value. `top` names the value itself. */
export function firstIssue({ issues }: z.ZodError, top = 'the whole'): string {
  const [issue] = issues
  const path = issue?.path.map(String).join('.') || top
  return `${path}: ${issue?.message ?? 'invalid'}`
}

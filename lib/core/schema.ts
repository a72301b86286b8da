import * as z from 'zod'
import { once } from './once.ts'

/** The first rule that a value breaks, as "field: rule", never with the value. `top` names the value itself. */
export function firstIssue({ issues }: z.ZodError, top = 'the whole'): string {
  const [issue] = issues
  const path = issue?.path.map(String).join('.') || top
  return `${path}: ${issue?.message ?? 'invalid'}`
}

/**
 * What zod makes the schema of an object from, where its fields are made when the first of them is needed. A start of a
 * function imports the schemas of all that it may meet, and needs a few of them (docs/decisions/fast.md). `catchall` takes
 * what is no field; without one it is left out.
 */
export function fieldsOnDemand<S extends z.ZodRawShape>(fields: () => S, catchall?: z.ZodType) {
  const made = once(fields)
  return {
    type: 'object' as const,
    ...(catchall === undefined ? {} : { catchall }),
    get shape(): S {
      // As zod itself does: from now on it sees the fields without asking for them.
      Object.defineProperty(this, 'shape', { value: made(), enumerable: true })
      return made()
    },
  }
}

/** `z.object`, with fields that are made when the first of them is needed. */
export function lazyObject<S extends z.ZodRawShape>(fields: () => S): ReturnType<typeof z.object<S>> {
  return new z.ZodObject(fieldsOnDemand(fields)) as ReturnType<typeof z.object<S>>
}

/** `z.strictObject`, with fields that are made when the first of them is needed. */
export function lazyStrictObject<S extends z.ZodRawShape>(fields: () => S): ReturnType<typeof z.strictObject<S>> {
  return new z.ZodObject(fieldsOnDemand(fields, z.never())) as ReturnType<typeof z.strictObject<S>>
}

import type * as z from 'zod'

/**
 * A schema and what it wraps, from the outside in: `optional`, `nullable`, `default` and the like hold the schema that
 * says what a value is, and each layer may carry its own description.
 */
export function layersOf(schema: z.ZodType): readonly z.ZodType[] {
  const { innerType } = schema.def as { innerType?: z.ZodType }
  return innerType === undefined ? [schema] : [schema, ...layersOf(innerType)]
}

/** The innermost layer of a schema: the kind of value it takes when it is there. */
export function coreOf(schema: z.ZodType): z.ZodType {
  return layersOf(schema).at(-1)!
}

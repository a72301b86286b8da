import * as z from 'zod'

/** The names of a schema's fields. Of its shape, not of the inferred type: an object that lets unknown keys pass takes any string. */
export type FieldOf<S extends z.ZodObject> = Extract<keyof S['shape'], string>

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

/** What a schema declares: the answer of the outermost layer that has one. */
export function declaredBy<T>(schema: z.ZodType, answerOf: (layer: z.ZodType) => T | undefined): T | undefined {
  return layersOf(schema)
    .map(answerOf)
    .find((answer) => answer !== undefined)
}

/** The schema of a field by its path. @throws TypeError when there is none. */
export function fieldAt(schema: z.ZodType, path: string): z.ZodType {
  return path.split('.').reduce((parent, key) => {
    const core = coreOf(parent)
    const child = core instanceof z.ZodObject ? (core.shape[key] as z.ZodType | undefined) : undefined
    if (child === undefined) throw new TypeError(`The schema has no field "${path}".`)
    return child
  }, schema)
}

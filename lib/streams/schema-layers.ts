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

/** What an object's schema says of a member; undefined for one that it has not, whatever objects have by themselves. */
export function memberOf({ shape }: z.ZodObject, name: string): z.ZodType | undefined {
  return Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined
}

/** The schema of a field by its path. @throws TypeError when there is none. */
export function fieldAt(schema: z.ZodType, path: string): z.ZodType {
  return path.split('.').reduce((parent, key) => {
    const core = coreOf(parent)
    const child = core instanceof z.ZodObject ? memberOf(core, key) : undefined
    if (child === undefined) throw new TypeError(`The schema has no field "${path}".`)
    return child
  }, schema)
}

/** Whether a field may be absent or null: then either means that there is no value. */
export function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success || schema.safeParse(null).success
}

/** A path and each path below it that must hold a value wherever what it stands in is there: `report.*.numerator`. */
export function requiredFieldsOf(schema: z.ZodObject, before = ''): string[] {
  return Object.entries(schema.shape)
    .filter(([, field]) => !isOptional(field as z.ZodType))
    .flatMap(([key, field]) => withRequiredBelow(field as z.ZodType, `${before}${key}`))
}

function withRequiredBelow(field: z.ZodType, path: string): string[] {
  const core = coreOf(field)
  if (core instanceof z.ZodArray) return [path, ...withRequiredBelow(core.element as z.ZodType, `${path}[]`)]
  if (core instanceof z.ZodRecord) return [path, ...withRequiredBelow(core.valueType as z.ZodType, `${path}.*`)]
  return core instanceof z.ZodObject ? [path, ...requiredFieldsOf(core, `${path}.`)] : [path]
}

import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import { knownValuesOf } from '../platform/fields.ts'
import type { FieldColumn } from './columns.ts'
import { coreOf, declaredBy, fieldAt, memberOf } from './schema-layers.ts'
import type { Stream } from './stream.ts'
import type { Column } from './table.ts'

/** A column of an enumeration, and the values that are known of it. Others are kept, and count as drift. */
export type KnownValues = { column: Column; path: string; known: ReadonlySet<string> }

/** The enumerations in the main table of a stream. */
export function knownValuesIn({ schema, tables: [main] }: Pick<Stream, 'schema' | 'tables'>): KnownValues[] {
  return main.columns.filter(isOfField).flatMap((column) => {
    const known = declaredBy(fieldAt(schema, column.path), knownValuesOf)
    return known ? [{ column, path: column.path, known: new Set(known) }] : []
  })
}

function isOfField(column: Column): column is FieldColumn {
  return 'path' in column
}

/**
 * The names of the fields in an `_extra` cell that a schema does not know, without places in lists and maps:
 * `sessionSettings.tags[].color`. What such a field holds is data, its keys included, and no part of its name.
 */
export function unknownFieldsIn(schema: z.ZodType, extra: unknown, path = ''): string[] {
  const core = coreOf(schema)
  const inner = isPlainObject(extra) ? Object.entries(extra) : []
  if (core instanceof z.ZodArray) return below(core.element as z.ZodType, inner, `${path}[]`)
  if (core instanceof z.ZodRecord) return below(core.valueType as z.ZodType, inner, `${path}.*`)
  const before = path === '' ? '' : `${path}.`
  return inner.flatMap(([key, value]) => {
    const field = core instanceof z.ZodObject ? memberOf(core, key) : undefined
    return field ? unknownFieldsIn(field, value, `${before}${key}`) : [`${before}${key}`]
  })
}

function below(schema: z.ZodType, entries: readonly [string, unknown][], path: string): string[] {
  return [...new Set(entries.flatMap(([, value]) => unknownFieldsIn(schema, value, path)))]
}

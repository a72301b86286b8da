import * as z from 'zod'
import { keysOf } from '../core/field-path.ts'
import { keyFieldsOf } from './keys.ts'
import { leafOf } from './leaves.ts'
import { coreOf, isOptional, memberOf } from './schema-layers.ts'
import type { Stream } from './stream.ts'

/** What an installation may choose for a field. */
type Choice = 'keep' | 'hash' | 'drop'

/** Why a choice can't be made for a field of a stream, in words that follow its path; undefined where it can. */
export function whyNotChosen(
  { schema, primaryKey }: Pick<Stream, 'schema' | 'primaryKey'>,
  { path, choice }: { path: string; choice: Choice },
): string | undefined {
  const keys = keysOf(path)
  const field = keys.reduce<z.ZodType | undefined>((parent, key) => parent && below(parent, key), schema)
  if (keys.length === 0 || field === undefined) return 'is no field of the stream'
  if (choice === 'keep') return undefined
  if (keys.length === 1 && keyFieldsOf({ primaryKey }).includes(keys[0] as string))
    return 'identifies the record, so it is kept'
  if (choice === 'drop') {
    const isPart = keys.at(-1) === '[]'
    return isPart || isOptional(field) ? undefined : 'must be there, so it is not dropped; hash it'
  }
  const type = leafOf(field)?.type
  return type === undefined || type === 'string' ? undefined : 'holds no text, so it is not hashed; drop it'
}

/** What stands under a key, undefined where nothing can. What is "not shown" may hold anything. */
function below(parent: z.ZodType, key: string): z.ZodType | undefined {
  const core = coreOf(parent)
  if (core instanceof z.ZodObject) return memberOf(core, key)
  if (core instanceof z.ZodArray) return key === '[]' ? (core.element as z.ZodType) : undefined
  if (core instanceof z.ZodRecord) return core.valueType as z.ZodType
  return core instanceof z.ZodUnknown ? core : undefined
}

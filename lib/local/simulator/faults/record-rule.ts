import * as z from 'zod'

function change<const D extends string, S extends z.ZodRawShape>(name: D, shape: S) {
  return z.strictObject({ do: z.literal(name), ...shape })
}
/** A field of the record; dots lead inside (`sessionSettings.tokenUsage.inputTokens`). */
function field() {
  return z.string().min(1)
}

const RecordChange = z.discriminatedUnion('do', [
  change('remove', { field: field() }),
  change('set', { field: field(), value: z.unknown() }),
  change('unknownField', { field: field().default('seat'), value: z.unknown().default({ tier: 'gold' }) }),
  change('unknownEnum', { field: field().default('status'), value: z.string().default('never_seen_before') }),
  /** A number as it stands, digits that no double holds included. */
  change('rawNumber', { field: field(), text: z.string().default('9007199254740993') }),
  /** Half an emoji at the end of a text. */
  change('loneSurrogate', { field: field() }),
  /** The record twice on its page. */
  change('duplicate', {}),
  /** A copy at the end of the page that is older and says something else. */
  change('olderCopyLater', { field: field().default('title'), value: z.unknown().default('an older title') }),
  /** The same copy at the start of the page, before the newer one. */
  change('olderCopyFirst', { field: field().default('title'), value: z.unknown().default('an older title') }),
  /** The whole record replaced by this JSON value. */
  change('replace', { value: z.unknown() }),
])

/** Bends the n-th record (from 0) of a page. */
export const recordFault = { record: z.int().min(0).default(0), change: RecordChange }
export type RecordChange = z.output<typeof RecordChange>

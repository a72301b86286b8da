import { currentName, currentQuery } from './current.ts'
import { type Stream, tablesOf } from './stream.ts'

/** A view of the warehouse: the current state of a table, over its change log. */
type View = { readonly name: string; readonly query: string }

/**
 * The `<table>_current` views of all streams, in an order in which each finds what it builds on: a nested table's needs
 * the main table's. The SQL is the same for every engine.
 */
export function currentViews(streams: readonly Stream[]): View[] {
  return streams.flatMap((stream) =>
    tablesOf(stream).map((table) => ({ name: currentName(table), query: currentQuery(stream, table) })),
  )
}

import type { Cell } from '../../streams/table.ts'

/** Some rows of a table, column by column, in the order in which the columns were asked for. */
export type RowBatch = { readonly rows: number; readonly columns: readonly (readonly Cell[])[] }

/** The published lake as rows: what a picture is made from where there is no SQL engine. */
export type LakeRows = {
  /**
   * Gives some columns of a table, or of its current view (`sessions`, `sessions_current`), to `eachBatch`, batch by batch
   * in no order. A row comes once. Nothing comes of a table that nothing was published of.
   */
  readColumns(table: string, columns: readonly string[], eachBatch: (batch: RowBatch) => void): Promise<void>
}

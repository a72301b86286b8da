import { createRowGatherer } from './gather-rows.ts'
import type { RowFileWriter, RowGroup } from './ports.ts'

/** What is written one after the other, and what becomes of each file. */
export type Rolling<W extends RowFileWriter, F> = {
  columns: number
  groupRows: number
  /** Begins a file. */
  open: () => W
  /** Keeps a whole file; `number` counts them. */
  keep: (file: { writer: W; rows: number }, number: number) => Promise<F>
}

/** Files that are filled one after the other with rows. */
export type RollingFile<F> = {
  /** Takes a row of a group into the file that is open. */
  take(from: RowGroup, row: number): void
  /** Ends the file at this place: what follows is in another. */
  cut(): Promise<void>
  /** What is in the file that is open: all its rows, and the bytes of its whole groups. */
  readonly rows: number
  readonly bytes: number
  readonly files: readonly F[]
}

/** Writes rows into files. One group of rows and one packed file are in memory. */
export function createRollingFile<W extends RowFileWriter, F>({
  columns,
  groupRows,
  open,
  keep,
}: Rolling<W, F>): RollingFile<F> {
  const files: F[] = []
  let writer: W | null = null
  let rows = 0
  const gatherer = createRowGatherer(columns, {
    groupRows,
    onGroup: (group) => {
      writer ??= open()
      writer.add(group)
    },
  })
  return {
    take: (from, row) => {
      rows += 1
      gatherer.take(from, row)
    },
    cut: async () => {
      gatherer.flush()
      if (writer === null) return
      const whole = { writer, rows }
      writer = null
      rows = 0
      files.push(await keep(whole, files.length))
    },
    get rows() {
      return rows
    },
    get bytes() {
      return writer?.size() ?? 0
    },
    files,
  }
}

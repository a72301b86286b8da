import type { PublishedFile } from '../../publish/manifest.ts'
import type { Cell, Column } from '../../streams/table.ts'

/** Looks into published files. */
export type FileRows = {
  /** The cells of some columns, column by column, a group of rows at a time. A file that is gone has none. */
  read(file: PublishedFile, columns: readonly Column[]): AsyncIterable<readonly (readonly Cell[])[]>
  /** Why each record of a quarantine file is in it. None when the file's term is over. */
  reasons(file: PublishedFile): Promise<readonly (readonly string[])[]>
}

const filesRead = 8
const bytesRead = 64 * 1024 * 1024

/** The newest of some files, as many as a page may take the time for. */
export function newestFiles(files: readonly PublishedFile[]): PublishedFile[] {
  const sorted = files.toSorted((a, b) => (a.publishedAt < b.publishedAt ? 1 : a.publishedAt > b.publishedAt ? -1 : 0))
  let left = bytesRead
  return sorted.slice(0, filesRead).filter(({ bytes }) => {
    left -= bytes
    return left >= 0
  })
}

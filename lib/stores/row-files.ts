import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { release } from '../core/buffer.ts'
import type { RowFiles, RowFileWriter, RowGroup } from '../publish/iceberg/ports.ts'
import { type IdentifiedColumn, identifiedColumnsOf } from '../streams/field-ids.ts'
import { columnSource, describedBy, type Named, pageSize, parquetSchema, writerSettings } from './parquet.ts'
import { readRows } from './read-rows.ts'

/** Parquet files as rows: written and read. */
export const rowFiles: RowFiles = { read: readRows, open: (table) => openFile(table, identifiedColumnsOf(table)) }

/** Begins a file of some columns. */
export function openFile(table: Named, columns: readonly IdentifiedColumn[]): RowFileWriter {
  const writer = new ByteWriter()
  const kvMetadata = describedBy(columns)
  const parquet = new ParquetWriter({ writer, schema: parquetSchema(columns), kvMetadata, ...writerSettings })
  const chunks: Uint8Array[] = []
  // The library's buffer doubles when it is full. Emptied after each group, it stays as small as one.
  const empty = () => {
    chunks.push(writer.getBytes().slice())
    writer.index = 0
  }
  return {
    add: (group) => {
      const columnData = columns.map((column, at) => columnSource(table, column, group[at] ?? []))
      const rowGroupSize = group[0]?.length ?? 0
      parquet.write({ columnData, rowGroupSize, pageSize })
      empty()
    },
    size: () => writer.offset,
    finish: () => {
      parquet.finish()
      empty()
      const whole = new Uint8Array(writer.offset)
      let at = 0
      for (const chunk of chunks) {
        whole.set(chunk, at)
        at += chunk.byteLength
        release(chunk)
      }
      return whole
    },
  }
}

/** A file of one group of rows. @throws TypeError when a cell is not of its column's declared type. */
export function encodeParquet(table: Named, columns: readonly IdentifiedColumn[], group: RowGroup): Uint8Array {
  const file = openFile(table, columns)
  file.add(group)
  return file.finish()
}

import { deserialize, serialize } from 'node:v8'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { ofLaterVersion } from '../core/form.ts'
import type { RowGroup } from '../publish/iceberg/ports.ts'
import { type Cell, type Column, columnsOf } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'
import { inOrder, keyOrder } from './key-order.ts'

/** A later version of this software marks its parts `APR2`, `APR3` … */
const magic = Buffer.from('APR1')
const headerAt = magic.byteLength + 4
/** Of each part that is merged one block is in memory. */
const blockRows = 500
/** The quickest: a part is read once, and gone within the hour. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 }

/** What stands before the blocks. `packed` and `unpacked` are bytes. */
const Header = z.object({
  columns: z.array(z.string()),
  blocks: z.array(z.object({ rows: z.int(), packed: z.int(), unpacked: z.int() })),
})

/**
 * A batch of rows as a part of a scan: sorted as it will be published, in blocks that are read one after the other. Only
 * the merge reads it, before anyone else sees its rows, so that it need not be Parquet, which takes four times as long to
 * write and twice as long to read.
 *
 * Form: the mark, the header's length (32 bits, little endian), the header as JSON, the blocks. A block is the zstd of what
 * V8 serializes: the cells of its rows, column by column. Node reads what any earlier version of it serialized.
 */
export function encodePart(batch: RowBatch): Uint8Array {
  const { table, columns, rows } = batch
  const names = columnsOf(table).map(({ name }) => name)
  if (columns.length !== names.length || columns.some((cells) => cells.length !== rows)) {
    throw new TypeError(
      `a batch of ${table.name} has ${columns.length} columns; ${names.length} of ${rows} rows are declared`,
    )
  }
  const order = keyOrder(batch)
  const blocks: { rows: number; unpacked: number; bytes: Uint8Array }[] = []
  for (let from = 0; from < rows; from += blockRows) {
    const some = order.subarray(from, from + blockRows)
    const bytes = serialize(columns.map((cells) => inOrder(cells, some)))
    blocks.push({ rows: some.length, unpacked: bytes.byteLength, bytes: zstdCompressSync(bytes, { params }) })
  }
  const header = Buffer.from(
    JSON.stringify({
      columns: names,
      blocks: blocks.map(({ bytes, ...sizes }) => ({ ...sizes, packed: bytes.byteLength })),
    } satisfies z.input<typeof Header>),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.byteLength)
  return Buffer.concat([magic, length, header, ...blocks.map(({ bytes }) => bytes)])
}

/** A part that is read. */
export type OpenPart = {
  /** All columns that it has. */
  readonly columns: readonly Pick<Column, 'name'>[]
  /** The bytes of its rows, unpacked. */
  readonly unpackedBytes: number
  /** The cells of some columns, block by block. A column that the part lacks, since it was declared later, is null. */
  groups(columns: readonly Pick<Column, 'name'>[]): Iterable<RowGroup>
}

/** Whether an object is a part in this form, or in one of a later version. */
export function isPart(bytes: Uint8Array): boolean {
  return magic.subarray(0, 3).equals(bytes.subarray(0, 3))
}

/** Opens a part. @throws FatalError `configuration` for one of a later version. */
export function openPart(bytes: Uint8Array): OpenPart {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mark = buffer.toString('latin1', 0, magic.byteLength)
  if (mark !== magic.toString('latin1')) throw laterForm(mark)
  const blocksAt = headerAt + buffer.readUInt32LE(magic.byteLength)
  const { columns: names, blocks } = Header.parse(JSON.parse(buffer.toString('utf8', headerAt, blocksAt)))
  return {
    columns: names.map((name) => ({ name })),
    unpackedBytes: blocks.reduce((sum, { unpacked }) => sum + unpacked, 0),
    groups: function* (columns) {
      const places = columns.map(({ name }) => names.indexOf(name))
      let at = blocksAt
      for (const { rows, packed } of blocks) {
        const cells = deserialize(zstdDecompressSync(buffer.subarray(at, at + packed))) as Cell[][]
        yield places.map((place) => cells[place] ?? new Array<Cell>(rows).fill(null))
        at += packed
      }
    },
  }
}

function laterForm(mark: string): FatalError {
  const message = ofLaterVersion('A part of a scan that waits for publish', { form: mark })
  return new FatalError(message, { code: 'configuration' })
}

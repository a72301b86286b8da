import { deserialize, serialize } from 'node:v8'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import * as z from 'zod'
import { bufferOver, release } from '../core/buffer.ts'
import { FatalError } from '../core/errors.ts'
import { ofLaterVersion } from '../core/form.ts'
import type { RowGroup } from '../publish/iceberg/ports.ts'
import { type Cell, type Column, cellBytes, columnsOf } from '../streams/table.ts'
import type { RowBatch } from '../sync/ports.ts'
import { inOrder, keyOrder } from './key-order.ts'

/** A later version of this software marks its parts `APR2`, `APR3` … */
const magic = Buffer.from('APR1')
const headerAt = magic.byteLength + 4
/** Of each part that is merged one block is in memory: so many rows at most, and rows of so many bytes. */
const blockRows = 500
const blockBytes = 64 * 1024
/** The quickest: a part is read once, and gone within the hour. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 }

/** What stands before the blocks, which follow one another. `packed` is bytes. */
const Header = z.object({
  columns: z.array(z.string()),
  blocks: z.array(z.object({ rows: z.int(), packed: z.int() })),
})
type Header = z.infer<typeof Header>

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
  const blocks = blocksOf(order, batch).map((some) => {
    const serialized = serialize(columns.map((cells) => inOrder(cells, some)))
    const bytes = zstdCompressSync(serialized, { params })
    release(serialized)
    return { rows: some.length, bytes }
  })
  const header = Buffer.from(
    JSON.stringify({
      columns: names,
      blocks: blocks.map(({ rows, bytes }) => ({ rows, packed: bytes.byteLength })),
    } satisfies Header),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.byteLength)
  return Buffer.concat([magic, length, header, ...blocks.map(({ bytes }) => bytes)])
}

/** Rows in pieces of one block each. */
function blocksOf(order: Uint32Array, { columns }: RowBatch): Uint32Array[] {
  const sizes = rowSizes(columns, order.length)
  const blocks: Uint32Array[] = []
  let [from, bytes] = [0, 0]
  for (let at = 0; at < order.length; at++) {
    const own = sizes[order[at] as number] as number
    if (at > from && (at - from === blockRows || bytes + own > blockBytes)) {
      blocks.push(order.subarray(from, at))
      from = at
      bytes = 0
    }
    bytes += own
  }
  if (from < order.length) blocks.push(order.subarray(from))
  return blocks
}

/** What each row takes, about. Column by column, since that is quicker. */
function rowSizes(columns: readonly (readonly Cell[])[], rows: number): Uint32Array {
  const sizes = new Uint32Array(rows)
  for (const cells of columns) {
    for (let row = 0; row < rows; row++) sizes[row] = (sizes[row] as number) + cellBytes(cells[row] as Cell)
  }
  return sizes
}

/** The bytes of a part in their order, so many at a time, and what to say where they make no sense. */
export type PartBytes = { next(count: number): Promise<Buffer>; damaged(cause: unknown): Error }

/** The bytes of a part that is in memory. */
export function wholePart(key: string, whole: Uint8Array): PartBytes {
  const buffer = bufferOver(whole)
  const damaged = (cause: unknown) => new FatalError(`${key} is damaged`, { code: 'damaged_state', cause })
  let at = 0
  return {
    damaged,
    next: async (count) => {
      if (at + count > buffer.byteLength) throw damaged('it ends too soon')
      at += count
      return buffer.subarray(at - count, at)
    },
  }
}

/** A part that is read. */
export type OpenPart = {
  /** All columns that it has. */
  readonly columns: readonly Pick<Column, 'name'>[]
  /** The cells of some columns, block by block; to be asked for once. A column that the part lacks, since it was declared later, is null. */
  groups(columns: readonly Pick<Column, 'name'>[]): AsyncIterable<RowGroup>
}

/** Opens a part. @throws FatalError `configuration` for one of a later version. */
export async function openPart(bytes: PartBytes): Promise<OpenPart> {
  const start = await bytes.next(headerAt)
  const mark = start.toString('latin1', 0, magic.byteLength)
  if (mark !== magic.toString('latin1')) throw mark.startsWith('APR') ? laterForm(mark) : bytes.damaged(mark)
  const packedHeader = await bytes.next(start.readUInt32LE(magic.byteLength))
  const { columns: names, blocks } = decoded(bytes, () => Header.parse(JSON.parse(packedHeader.toString())))
  return {
    columns: names.map((name) => ({ name })),
    groups: async function* (columns) {
      const places = columns.map(({ name }) => names.indexOf(name))
      for (const { rows, packed } of blocks) {
        const block = await bytes.next(packed)
        const cells = decoded(bytes, () => cellsOf(block))
        yield places.map((place) => cells[place] ?? new Array<Cell>(rows).fill(null))
      }
    },
  }
}

function cellsOf(block: Buffer): Cell[][] {
  const serialized = zstdDecompressSync(block)
  const cells = deserialize(serialized) as Cell[][]
  release(serialized)
  return cells
}

function decoded<T>({ damaged }: PartBytes, decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    throw damaged(cause)
  }
}

function laterForm(mark: string): FatalError {
  const message = ofLaterVersion('A part of a scan that waits for publish', { form: mark })
  return new FatalError(message, { code: 'configuration' })
}

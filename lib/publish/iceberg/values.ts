import type { Cell, ColumnType } from '../../streams/table.ts'

/** Iceberg's name of each type of column. JSON is text to every engine. */
export const icebergTypes = {
  string: 'string',
  json: 'string',
  int64: 'long',
  double: 'double',
  boolean: 'boolean',
  timestamp: 'timestamptz',
} as const satisfies Record<ColumnType, string>

/** Longer texts stand in bounds by their beginning alone, so that no manifest grows with what a platform calls an id. */
const boundLength = 256

/** The part of a text that is compared with bounds. Shortening keeps the order of texts. */
export function boundOf(cell: Cell): Cell {
  if (typeof cell !== 'string' || cell.length <= boundLength) return cell
  const last = cell.charCodeAt(boundLength - 1)
  return cell.slice(0, last >= 0xd800 && last < 0xdc00 ? boundLength - 1 : boundLength)
}

/** A value in Iceberg's single-value binary form. */
export function encodeValue(cell: Exclude<Cell, null>, type: ColumnType): Buffer {
  if (typeof cell === 'string') return Buffer.from(cell)
  if (typeof cell === 'boolean') return Buffer.from([cell ? 1 : 0])
  const bytes = Buffer.alloc(8)
  if (type === 'double') bytes.writeDoubleLE(cell)
  else bytes.writeBigInt64LE(type === 'timestamp' ? BigInt(cell) * 1000n : BigInt(cell))
  return bytes
}

/** The value of its single-value binary form. */
export function decodeValue(value: Uint8Array, type: ColumnType): Cell {
  const bytes = Buffer.from(value)
  if (type === 'string' || type === 'json') return bytes.toString()
  if (type === 'boolean') return bytes[0] === 1
  if (type === 'double') return bytes.readDoubleLE()
  const number = bytes.readBigInt64LE()
  return Number(type === 'timestamp' ? number / 1000n : number)
}

const dayMs = 86_400_000

/** Days since 1970 of a time, in UTC: Iceberg's `day` of it. */
export function dayOf(unixMs: number): number {
  return Math.floor(unixMs / dayMs)
}

/** A day in Iceberg's single-value binary form. */
export function encodeDay(day: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(day)
  return bytes
}

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Schema, Type } from 'avsc'
import avro from 'avsc/lib/types.js'
import { bufferOver } from '../../core/buffer.ts'
import { FatalError } from '../../core/errors.ts'
import { sha256Bytes } from '../../core/hash.ts'

/** An Avro schema as JSON. Iceberg wants attributes in it (`field-id`) that libraries do not know and must not drop. */
export type AvroSchema = { readonly type: string; readonly [name: string]: unknown }

/** What an Avro file holds: metadata of its header, and records. */
export type AvroFile = { header: Readonly<Record<string, string>>; records: readonly unknown[] }

const magic = Buffer.from('Obj\x01', 'latin1')
const syncBytes = 16
const header = avro.Type.forSchema({ type: 'map', values: 'bytes' })
const length = avro.Type.forSchema('long')

/**
 * An Avro object container file of one block. The schema goes into the header as it is given: the library's own encoder
 * would leave out what it doesn't know.
 */
export function encodeAvro(schema: AvroSchema, { header: own, records }: AvroFile): Uint8Array {
  const type = typeOf(schema)
  const block = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))))
  const meta = { ...own, 'avro.schema': JSON.stringify(schema), 'avro.codec': 'deflate' }
  const texts = Object.entries(meta).map(([name, value]) => [name, Buffer.from(value)] as const)
  const sync = Buffer.from(sha256Bytes(JSON.stringify(meta))).subarray(0, syncBytes)
  const head = [magic, header.toBuffer(Object.fromEntries(texts)), sync]
  if (records.length === 0) return Buffer.concat(head)
  return Buffer.concat([...head, length.toBuffer(records.length), length.toBuffer(block.length), block, sync])
}

/** Reads an Avro object container file by the schema in its header. @throws FatalError `damaged_state` when it is none. */
export function decodeAvro(bytes: Uint8Array, name: string): AvroFile {
  try {
    return decode(bufferOver(bytes))
  } catch (cause) {
    throw new FatalError(`${name} can't be read as an Avro file. Restore an earlier version of the object`, {
      code: 'damaged_state',
      cause,
    })
  }
}

function decode(file: Buffer): AvroFile {
  if (!file.subarray(0, magic.length).equals(magic)) throw new TypeError('it does not begin as Avro files do')
  const start = header.decode(file, magic.length) as Decoded<Record<string, Uint8Array>>
  const meta = Object.fromEntries(Object.entries(start.value).map(([name, value]) => [name, textOf(value)]))
  const { 'avro.schema': schema = '', 'avro.codec': codec = 'null', ...own } = meta
  const type = typeOf(JSON.parse(schema) as AvroSchema)
  const records: unknown[] = []
  for (let at = start.offset + syncBytes; at < file.length; ) {
    const count = length.decode(file, at) as Decoded<number>
    const size = length.decode(file, count.offset) as Decoded<number>
    const packed = file.subarray(size.offset, size.offset + size.value)
    records.push(...recordsIn(codec === 'deflate' ? inflateRawSync(packed) : packed, type, count.value))
    at = size.offset + size.value + syncBytes
  }
  return { header: own, records }
}

type Decoded<T> = { value: T; offset: number }

function* recordsIn(block: Buffer, type: Type, count: number): Generator<unknown> {
  let offset = 0
  for (let left = count; left > 0; left--) {
    const next = type.decode(block, offset) as Decoded<unknown>
    offset = next.offset
    yield next.value
  }
  if (offset !== block.length) throw new TypeError('a block is longer or shorter than its records')
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

const types = new Map<string, Type>()

function typeOf(schema: AvroSchema): Type {
  const text = JSON.stringify(schema)
  const type = types.get(text) ?? avro.Type.forSchema(schema as Schema)
  types.set(text, type)
  return type
}

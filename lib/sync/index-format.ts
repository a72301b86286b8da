import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { PartFile } from './checkpoint.ts'
import { hashBytes, type IndexEntry, Kind, odd } from './key-table.ts'

/**
 * The form of index objects, one for the index of a stream and for the part that each flush adds: four bytes of magic,
 * the length of a JSON header and the header, then entries of
 * `key length (u16) | key (UTF-8) | hash (16) | changedAt (f64) | kind (u8) | pass (u8)`, little endian. The
 * highest bit of the kind says that the record is odd.
 */
const magic = Buffer.from('API1')
const fixedBytes = 2 + hashBytes + 8 + 2
const highestKind = Math.max(...Object.values(Kind))

const Header = z.object({
  entries: z.int(),
  pass: z.int().describe('The pass of the scan in which the flush was written; 0 for an index.'),
  tokens: z.array(z.string()).describe('Digests of the page tokens that the flushed pages of this pass gave.'),
  files: z.array(PartFile).describe('Lake files that the flush wrote.'),
})

/** What an index object holds besides its entries. */
type PartHeader = Omit<z.infer<typeof Header>, 'entries'>

/** Writes an index object. `entries` is read twice, so it must be a sequence that can be. */
export function encodeIndex(
  header: PartHeader,
  entries: { count: number; each: () => Iterable<IndexEntry> },
): Uint8Array {
  const head = Buffer.from(JSON.stringify({ ...header, entries: entries.count }))
  let size = magic.length + 4 + head.length
  for (const { key } of entries.each()) size += fixedBytes + Buffer.byteLength(key)
  const bytes = Buffer.allocUnsafe(size)
  let at = magic.copy(bytes)
  at = bytes.writeUInt32LE(head.length, at)
  at += head.copy(bytes, at)
  for (const entry of entries.each()) at = writeEntry(bytes, at, entry)
  return bytes
}

function writeEntry(bytes: Buffer, start: number, { key, hash, changedAt, kind, isOdd, pass }: IndexEntry): number {
  const length = bytes.write(key, start + 2)
  let at = bytes.writeUInt16LE(length, start) + length
  bytes.set(hash, at)
  at = bytes.writeDoubleLE(changedAt, at + hashBytes)
  at = bytes.writeUInt8(isOdd ? kind | odd : kind, at)
  return bytes.writeUInt8(pass, at)
}

/**
 * Reads an index object, entry by entry; the entry's hash is a view that is valid until the next one.
 * @throws FatalError `damaged_state` when the bytes are not an index object; for damage within the entries only as
 * they are read.
 */
export function decodeIndex(bytes: Uint8Array): { header: PartHeader; entries: Iterable<IndexEntry> } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (!buffer.subarray(0, magic.length).equals(magic)) throw new Error('it does not begin with its mark')
    const headEnd = magic.length + 4 + buffer.readUInt32LE(magic.length)
    const { entries: count, ...header } = Header.parse(JSON.parse(buffer.toString('utf8', magic.length + 4, headEnd)))
    return { header, entries: readEntries(buffer, headEnd, count) }
  } catch (cause) {
    throw damaged(cause)
  }
}

function damaged(cause: unknown) {
  return new FatalError('An index object is damaged.', { code: 'damaged_state', cause })
}

// Lengths are looked at before they are used: a Buffer would cut what lies beyond its end short, or throw its own error.
function* readEntries(buffer: Buffer, start: number, count: number): Iterable<IndexEntry> {
  let at = start
  for (let n = 0; n < count; n++) {
    const keyEnd = at + 2 + (at + 2 <= buffer.length ? buffer.readUInt16LE(at) : 0)
    const hashEnd = keyEnd + hashBytes
    if (hashEnd + 10 > buffer.length) throw damaged(`it ends within entry ${n} of ${count}`)
    const kindByte = buffer.readUInt8(hashEnd + 8)
    const kind = kindByte & ~odd
    if (kind > highestKind) throw damaged(`entry ${n} is of kind ${kind}`)
    yield {
      key: buffer.toString('utf8', at + 2, keyEnd),
      hash: buffer.subarray(keyEnd, hashEnd),
      changedAt: buffer.readDoubleLE(hashEnd),
      kind: kind as Kind,
      isOdd: kindByte !== kind,
      pass: buffer.readUInt8(hashEnd + 9),
    }
    at = hashEnd + 10
  }
  if (at !== buffer.length) throw damaged('it goes on after its last entry')
}

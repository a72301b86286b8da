import * as z from 'zod'
import { FatalError, SyncError } from '../core/errors.ts'
import { digestBytes } from '../core/keyed-digest.ts'
import { none } from './byte-digests.ts'
import { PartFile } from './checkpoint.ts'
import { hashBytes, type IndexEntry, Kind, odd } from './key-table.ts'

/**
 * The form of index objects, one for the index of a stream and for the part that each flush adds: four bytes of magic,
 * the length of a JSON header and the header, then entries of
 * `key length (u16) | key (UTF-8) | hash (16) | bytes (16) | changedAt (f64) | kind (u8) | pass (u8)`, little endian. The
 * highest bit of the kind says that the record is odd. Objects of the first form have no `bytes`, and are read as they are.
 */
const magic = Buffer.from('API2')
const firstMagic = Buffer.from('API1')
const fixedBytes = 2 + hashBytes + digestBytes + 8 + 2
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

function writeEntry(
  into: Buffer,
  start: number,
  { key, hash, bytes, changedAt, kind, isOdd, pass }: IndexEntry,
): number {
  const length = into.write(key, start + 2)
  let at = into.writeUInt16LE(length, start) + length
  into.set(hash, at)
  into.set(bytes, at + hashBytes)
  at = into.writeDoubleLE(changedAt, at + hashBytes + digestBytes)
  at = into.writeUInt8(isOdd ? kind | odd : kind, at)
  return into.writeUInt8(pass, at)
}

/**
 * Reads an index object, entry by entry; the entry's hash is a view that is valid until the next one.
 * @throws FatalError `damaged_state` when the bytes are not an index object; for damage within the entries only as
 * they are read.
 */
export function decodeIndex(bytes: Uint8Array): { header: PartHeader; entries: Iterable<IndexEntry> } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const mark = buffer.subarray(0, magic.length)
    const hasBytes = mark.equals(magic)
    if (!hasBytes && !mark.equals(firstMagic)) throw unknownForm(mark)
    const headEnd = magic.length + 4 + buffer.readUInt32LE(magic.length)
    const { entries: count, ...header } = Header.parse(JSON.parse(buffer.toString('utf8', magic.length + 4, headEnd)))
    return { header, entries: readEntries(buffer, { start: headEnd, count, hasBytes }) }
  } catch (cause) {
    throw cause instanceof SyncError ? cause : damaged(cause)
  }
}

/** A later version of this software marks its objects `API3`, `API4` …: they are not damaged, and must not be replaced. */
function unknownForm(mark: Buffer): Error {
  if (!/^API[3-9]$/.test(mark.toString('latin1'))) return new Error('it does not begin with its mark')
  return new FatalError(
    `An index object was written by a later version of this software (${mark.toString('latin1')}). Deploy that version ` +
      'again; to go back for good, reset the stream with --index, so that every record is written anew.',
    { code: 'configuration' },
  )
}

function damaged(cause: unknown) {
  return new FatalError('An index object is damaged.', { code: 'damaged_state', cause })
}

type Entries = { start: number; count: number; hasBytes: boolean }

// Lengths are looked at before they are used: a Buffer would cut what lies beyond its end short, or throw its own error.
function* readEntries(buffer: Buffer, { start, count, hasBytes }: Entries): Iterable<IndexEntry> {
  let at = start
  for (let n = 0; n < count; n++) {
    const keyEnd = at + 2 + (at + 2 <= buffer.length ? buffer.readUInt16LE(at) : 0)
    const bytesAt = keyEnd + hashBytes
    const hashEnd = hasBytes ? bytesAt + digestBytes : bytesAt
    if (hashEnd + 10 > buffer.length) throw damaged(`it ends within entry ${n} of ${count}`)
    const kindByte = buffer.readUInt8(hashEnd + 8)
    const kind = kindByte & ~odd
    if (kind > highestKind) throw damaged(`entry ${n} is of kind ${kind}`)
    yield {
      key: buffer.toString('utf8', at + 2, keyEnd),
      hash: buffer.subarray(keyEnd, bytesAt),
      bytes: hasBytes ? buffer.subarray(bytesAt, hashEnd) : none,
      changedAt: buffer.readDoubleLE(hashEnd),
      kind: kind as Kind,
      isOdd: kindByte !== kind,
      pass: buffer.readUInt8(hashEnd + 9),
    }
    at = hashEnd + 10
  }
  if (at !== buffer.length) throw damaged('it goes on after its last entry')
}

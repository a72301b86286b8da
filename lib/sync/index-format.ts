import * as z from 'zod'
import { bufferOver } from '../core/buffer.ts'
import { FatalError } from '../core/errors.ts'
import { ofLaterVersion } from '../core/form.ts'
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
  index: z.string().nullable().default(null).describe('The index that `same` is about.'),
  same: z
    .array(z.tuple([z.int().min(0), z.int().min(0), z.int()]))
    .default(() => [])
    .describe('Keys that came as that index has them: from which on, how many, and the pass that saw them.'),
})

/** What an index object holds besides its entries. */
export type PartHeader = Omit<z.infer<typeof Header>, 'entries'>
type WrittenHeader = Omit<z.input<typeof Header>, 'entries'>

/** What is written: so many entries, which can be gone through. */
type Entries = { count: number; each: () => Iterable<IndexEntry> }

/** Writes an index object as a whole, as the parts of a scan are. */
export function encodeIndex(header: WrittenHeader, entries: Entries): Uint8Array {
  return Buffer.concat([...indexChunks(header, entries)])
}

const chunkBytes = 256 * 1024

/** Writes an index object piece by piece: what grows with a stream is never held whole. */
export function* indexChunks(header: WrittenHeader, { count, each }: Entries): Generator<Uint8Array> {
  const head = Buffer.from(JSON.stringify({ ...header, entries: count }))
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(head.length)
  yield Buffer.concat([magic, length, head])
  let chunk = Buffer.allocUnsafe(chunkBytes)
  let used = 0
  for (const entry of each()) {
    if (used + fixedBytes + Buffer.byteLength(entry.key) > chunkBytes) {
      yield chunk.subarray(0, used)
      chunk = Buffer.allocUnsafe(chunkBytes)
      used = 0
    }
    used = writeEntry(chunk, used, entry)
  }
  if (used > 0) yield chunk.subarray(0, used)
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
 * Reads an index object, entry by entry; what is bytes in an entry is a view that is valid until the next one.
 * @throws FatalError `damaged_state` when the bytes are not an index object; for damage within the entries only as
 * they are read.
 */
export function decodeIndex(bytes: Uint8Array): { header: PartHeader; entries: Iterable<IndexEntry> } {
  const head = headOf(bufferOver(bytes))
  if (head === undefined) throw damaged('it ends within its header')
  const entries = function* () {
    const reader = createIndexReader()
    for (const entry of reader.read(bytes)) yield { ...entry, key: bufferOver(entry.key).toString() }
    reader.end()
  }
  return { header: head.header, entries: { [Symbol.iterator]: entries } }
}

/** An entry as it stands in an index object, its key in UTF-8. What is bytes holds until the next entry. */
export type StoredEntry = Omit<IndexEntry, 'key'> & { key: Uint8Array }

/** Reads an index object that comes in pieces. */
export type IndexReader = {
  /** The entries that a piece completes, to be gone through before the next piece. */
  read(chunk: Uint8Array): Iterable<StoredEntry>
  /** Says that no piece follows. @throws FatalError `damaged_state` when one is missing. */
  end(): void
}

/** A reader at the beginning of an index object. */
export function createIndexReader(): IndexReader {
  let rest: Buffer = Buffer.alloc(0)
  let head: Head | undefined
  let entries = 0
  return {
    read: function* (chunk) {
      const buffer = rest.length === 0 ? bufferOver(chunk) : Buffer.concat([rest, chunk])
      rest = buffer
      head ??= headOf(buffer)
      if (head === undefined) return
      // The head is the first piece's: whatever follows begins with an entry.
      let at = head.end
      head = { ...head, end: 0 }
      for (let end = entryEnd(buffer, at, head); end <= buffer.length; end = entryEnd(buffer, at, head)) {
        if (entries === head.count) throw damaged('it goes on after its last entry')
        yield entryAt(buffer, { at, end, hasBytes: head.hasBytes, number: entries })
        entries += 1
        at = end
      }
      rest = buffer.subarray(at)
    },
    end: () => {
      if (head === undefined || entries < head.count) throw damaged(`it ends within entry ${entries}`)
      if (rest.length > 0) throw damaged('it goes on after its last entry')
    },
  }
}

type Head = { header: PartHeader; count: number; hasBytes: boolean; end: number }

/** The head of an index object; undefined when there is not enough of it. */
function headOf(buffer: Buffer): Head | undefined {
  const start = magic.length + 4
  if (buffer.length < start) return undefined
  const mark = buffer.subarray(0, magic.length)
  const hasBytes = mark.equals(magic)
  if (!hasBytes && !mark.equals(firstMagic)) throw unknownForm(mark)
  const end = start + buffer.readUInt32LE(magic.length)
  if (end > buffer.length) return undefined
  try {
    const { entries: count, ...header } = Header.parse(JSON.parse(buffer.toString('utf8', start, end)))
    return { header, count, hasBytes, end }
  } catch (cause) {
    throw damaged(cause)
  }
}

/** Where an entry ends; infinitely far where not even its length is there. */
function entryEnd(buffer: Buffer, at: number, { hasBytes }: Head): number {
  if (at + 2 > buffer.length) return Number.POSITIVE_INFINITY
  return at + fixedBytes - (hasBytes ? 0 : digestBytes) + buffer.readUInt16LE(at)
}

type EntryPlace = { at: number; end: number; hasBytes: boolean; number: number }

function entryAt(buffer: Buffer, { at, end, hasBytes, number }: EntryPlace): StoredEntry {
  const timeAt = end - 10
  const bytesAt = hasBytes ? timeAt - digestBytes : timeAt
  const hashAt = bytesAt - hashBytes
  const kindByte = buffer.readUInt8(timeAt + 8)
  const kind = kindByte & ~odd
  if (kind > highestKind) throw damaged(`entry ${number} is of kind ${kind}`)
  return {
    key: buffer.subarray(at + 2, hashAt),
    hash: buffer.subarray(hashAt, bytesAt),
    bytes: hasBytes ? buffer.subarray(bytesAt, timeAt) : none,
    changedAt: buffer.readDoubleLE(timeAt),
    kind: kind as Kind,
    isOdd: kindByte !== kind,
    pass: buffer.readUInt8(timeAt + 9),
  }
}

/** A later version of this software marks its objects `API3`, `API4` …: they are not damaged, and must not be replaced. */
function unknownForm(mark: Buffer): FatalError {
  if (!/^API[3-9]$/.test(mark.toString('latin1'))) return damaged('it does not begin with its mark')
  const goBack = 'reset the stream with --index, so that every record is written anew'
  const message = ofLaterVersion('An index object', { form: mark.toString('latin1'), goBack })
  return new FatalError(message, { code: 'configuration' })
}

function damaged(cause: unknown) {
  return new FatalError('An index object is damaged.', { code: 'damaged_state', cause })
}

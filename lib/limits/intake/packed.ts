import { unreadable } from './columns.ts'

/** The most that the parts of a workbook may unpack to. Read, they take ten times that, and the function has 1 GB. */
const maxUnpacked = 32 * 1024 * 1024

const endMark = 0x06054b50
const entryMark = 0x02014b50
const endLength = 22
const entryLength = 46
const maxComment = 0xffff
/** Stands for a number that lies in the archive's 64-bit fields. */
const beyond = 0xffffffff

/**
 * Refuses an archive whose parts would unpack to more than the memory holds, before anything is unpacked. The reader
 * unpacks no part further than its directory says; what the directory leaves open is refused, too.
 * @throws RejectedError `bad_request`
 */
export function checkUnpackedSize(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let unpacked = 0
  for (const { name, packed, size, streamed } of entriesOf(view)) {
    // A folder is never unpacked; what was streamed says its sizes elsewhere unless the directory has them, too.
    if (name.endsWith('/')) continue
    if (packed === beyond || size === beyond || (streamed && packed === 0) || (size === 0 && packed > 2))
      throw damaged()
    unpacked += size
  }
  if (unpacked <= maxUnpacked) return
  const megabytes = maxUnpacked / 1024 / 1024
  throw unreadable(`it unpacks to more than ${megabytes} MiB. Copy the two columns into a new workbook`)
}

function* entriesOf(view: DataView) {
  const end = endOf(view)
  const [count, length, start] = [
    view.getUint16(end + 10, true),
    view.getUint32(end + 12, true),
    view.getUint32(end + 16, true),
  ]
  // A directory of the 64-bit form lies elsewhere; no workbook of the size that is read needs one.
  if (count === 0xffff || length === beyond || start === beyond) throw damaged()
  let at = start
  for (let left = count; left > 0; left--) {
    if (at + entryLength > view.byteLength || view.getUint32(at, true) !== entryMark) throw damaged()
    const nameLength = view.getUint16(at + 28, true)
    const name = new Uint8Array(view.buffer, view.byteOffset + at + entryLength, nameLength)
    yield {
      name: Buffer.from(name).toString('latin1'),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      streamed: (view.getUint16(at + 8, true) & 8) !== 0,
    }
    at += entryLength + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
}

function endOf(view: DataView): number {
  for (let at = view.byteLength - endLength; at >= 0 && at >= view.byteLength - endLength - maxComment; at--) {
    if (view.getUint32(at, true) === endMark) return at
  }
  throw damaged()
}

function damaged() {
  return unreadable('it is no Excel workbook, or a damaged one. Save it as .xlsx with Excel, or as "CSV UTF-8"')
}

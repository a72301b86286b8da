import { bufferOver } from '../core/buffer.ts'
import type { Json } from '../core/json.ts'
import type { Extractor } from '../streams/extract.ts'
import type { Buffered } from './batch.ts'
import type { Scan } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { type KeyTable, Kind } from './key-table.ts'
import type { KeyReader } from './validate.ts'

/** What a scan made of the records it received: the intake's part of the checkpoint. */
export type IntakeState = Pick<Scan, 'counts' | 'unkeyed'>

/** The intake's own state. Nobody else sees it. */
export type Taking = {
  readonly context: ScanContext
  readonly table: KeyTable
  readonly extract: Extractor
  readonly keyOf: KeyReader
  readonly state: IntakeState
  /** Keys of this pass that are known by broken copies alone. */
  readonly brokenKeys: Set<string>
  hasRenewed: boolean
  buffer: Buffered
  pass: number
}

/**
 * A record as it was received, with its place among the known (-1: none). `bytes`: the digest of its bytes; null where it
 * has none, and where it must be read each time.
 */
export type Taken = {
  key: string
  known: number
  digest: Uint8Array
  text: string
  record: { [key: string]: Json }
  bytes: string | null
}

/** Whether the pass that is read had not seen a key. */
export function isNewInPass({ table, pass, brokenKeys }: Taking, key: string, known: number): boolean {
  return known < 0 ? !brokenKeys.has(key) : table.pass(known) !== pass
}

/** Notes a copy with the content that is known: unchanged, or a repeat within the scan. */
export function markSame({ buffer, table, pass, state: { counts } }: Taking, at: number): void {
  const seen = table.pass(at) !== 0
  if (seen && table.kind(at) !== Kind.held) {
    counts.duplicate += 1
    table.mark(at, table.kind(at), pass)
  } else {
    counts.unchanged += 1
    table.mark(at, Kind.unchanged, pass)
  }
  buffer.seen.push(at)
}

/** A copy with the content that is known. It costs nothing more. */
export function takeSame(taking: Taking, taken: Taken, invalid: readonly string[]): void {
  const { known, bytes } = taken
  markSame(taking, known)
  if (bytes !== null && invalid.length === 0 && !taking.table.hasBytes(known, bytes)) {
    taking.table.setBytes(known, Buffer.from(bytes, 'latin1'))
    taking.hasRenewed = true
    taking.buffer.renewed.add(known)
  }
  countInvalid(taking, invalid)
  observe(taking, taken)
}

/** Notes another copy of what stands. Its key is known until the last of its copies is read no more. */
export function takeCopy(taking: Taking, { known, record }: Taken): void {
  const { context, table, buffer } = taking
  markSame(taking, known)
  const changedAt = context.stream.changedAt?.(record) ?? Number.NaN
  if (!(changedAt > table.changedAt(known))) return
  table.setChangedAt(known, changedAt)
  taking.hasRenewed = true
  buffer.renewed.add(known)
}

/** Counts the fields of a record whose value has an unforeseen form. */
export function countInvalid({ state: { counts } }: Taking, fields: readonly string[]): void {
  for (const field of fields) counts.invalid[field] = (counts.invalid[field] ?? 0) + 1
}

/** Keeps a record for the stream's observer, if there is one. */
export function observe({ context: { observer }, buffer }: Taking, { digest, text, record }: Taken): void {
  if (!observer) return
  buffer.bytes += text.length
  buffer.observed.push({ hash: hex(digest), record })
}

/** A digest as text. */
export function hex(digest: Uint8Array): string {
  return bufferOver(digest).toString('hex')
}

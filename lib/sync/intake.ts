import { sha256Bytes } from '../core/hash.ts'
import type { Json } from '../core/json.ts'
import { deepText, isTooDeep } from '../core/nesting.ts'
import { type Extractor, extractorOf } from '../streams/extract.ts'
import { type Batch, type Buffered, copiedEntries, emptyBuffer } from './batch.ts'
import type { Scan } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { type IndexEntry, type KeyTable, Kind } from './key-table.ts'
import { forgetMarks, passOf, setMark } from './marks.ts'
import type { ReadPage } from './page-reader.ts'
import { canonical, type KeyReader, keyReaderOf, tooDeep, whyUnkeyed } from './validate.ts'

/** What a scan made of the records it received: the intake's part of the checkpoint. */
export type IntakeState = Pick<Scan, 'counts' | 'unkeyed'>

/** What is gone: keys, and parents whose lists are gone with them. */
type Gone = { keys: readonly string[]; parents: ReadonlySet<string> }

/** The owner of what is known of a stream's keys, of the counts, and of what waits to be written. */
export type Intake = {
  /** Takes in a page, and answers how many keys it brought that its pass had not seen. */
  take(page: ReadPage): number
  /** Whether enough waits, or long enough, to be written. */
  readonly isFull: boolean
  readonly isEmpty: boolean
  /** Hands over what waits, with its keys as they stand, and begins anew. */
  handOver(): Batch
  /** Marks keys as gone, and hands them over as a batch of their own. What is known of the lists of gone `parents` is forgotten. */
  remove(gone: Gone, pass: number): Batch
  readonly state: Readonly<IntakeState>
  /** Every key, as it stands. An entry's hash is a view that holds until the table changes. */
  entries(): Iterable<IndexEntry>
  /** The pass of this scan in which the list of a parent, as it stands in keys, was read to its end; 0 when in none. */
  passOf(parent: string): number
}

/** The intake of a scan over the keys that are known of its stream. Nothing is durable until a batch is written. */
export function createIntake(context: ScanContext, { table, state }: { table: KeyTable; state: IntakeState }): Intake {
  const { deps } = context
  const taking: Taking = {
    context,
    table,
    extract: extractorOf(context.stream),
    keyOf: keyReaderOf(context.stream),
    state: structuredClone(state),
    brokenKeys: new Set(),
    buffer: emptyBuffer(deps.clock.now()),
    pass: 0,
  }
  const handOver = (): Batch => {
    const { buffer } = taking
    taking.buffer = emptyBuffer(deps.clock.now())
    return { ...buffer, seen: copiedEntries(table, buffer.seen) }
  }

  return {
    take: (page) => takePage(taking, page),
    get isFull() {
      const { flushRecords, flushBytes, flushMs } = deps.settings
      const { received, bytes, since } = taking.buffer
      return received >= flushRecords || bytes >= flushBytes || deps.clock.now() - since >= flushMs
    },
    get isEmpty() {
      return taking.buffer.received === 0 && taking.buffer.seen.length === 0
    },
    handOver,
    remove: (gone, pass) => {
      markGone(taking, gone, pass)
      return handOver()
    },
    get state() {
      return taking.state
    },
    entries: function* () {
      for (let at = 0; at < table.size; at++) yield table.entry(at)
    },
    passOf: (parent) => passOf(table, parent),
  }
}

/** The intake's own state. Nobody else sees it. */
type Taking = {
  readonly context: ScanContext
  readonly table: KeyTable
  readonly extract: Extractor
  readonly keyOf: KeyReader
  readonly state: IntakeState
  /** Keys of this pass that are known by broken copies alone. */
  readonly brokenKeys: Set<string>
  buffer: Buffered
  pass: number
}

function takePage(taking: Taking, { records, pass, ofParent }: ReadPage): number {
  if (pass !== taking.pass) taking.brokenKeys.clear()
  taking.pass = pass
  let newIds = 0
  for (const raw of records) if (takeRecord(taking, raw)) newIds += 1
  if (ofParent?.completes) taking.buffer.seen.push(setMark(taking.table, ofParent.completes, pass))
  return newIds
}

function markGone({ table, buffer, state }: Taking, { keys, parents }: Gone, pass: number): void {
  buffer.seen.push(...forgetMarks(table, parents))
  for (const key of keys) {
    const at = table.find(key)
    table.mark(at, Kind.deleted, pass)
    // Should it come back before the scan ends, it is written again, whatever it is like.
    table.clearHash(at)
    table.setChangedAt(at, Number.NaN)
    buffer.seen.push(at)
  }
  buffer.deletes = [...keys]
  state.counts.deleted += keys.length
}

/** Takes in one record; true when this pass had not seen its key. */
function takeRecord(taking: Taking, raw: Json): boolean {
  const { context, buffer, table, keyOf } = taking
  const { counts } = taking.state
  const { stream, deps } = context
  counts.received += 1
  buffer.received += 1
  // Whatever comes after this may call itself once for each level.
  if (isTooDeep(raw)) return takeTooDeep(taking, raw)
  const { record, text, repaired } = canonical(deps.redact(raw, stream))
  if (repaired) counts.repaired += 1
  const key = keyOf(record)
  if (key === null) {
    return quarantine(taking, { key, known: -1, raw: JSON.stringify(record), reason: whyUnkeyed(record, stream) })
  }
  const known = table.find(key)
  const isNewId = isNewInPass(taking, key, known)
  const digest = sha256Bytes(text)
  const taken: Taken = { key, known, digest, text, record: record as Taken['record'] }
  const isSame = known >= 0 && table.hasHash(known, digest)
  const invalid = isSame && table.isOdd(known) ? taking.extract(record, key).invalid : null
  // What was odd and is not so to a schema that has learned since is written anew.
  if (isSame && invalid?.length !== 0) takeSame(taking, taken, invalid ?? [])
  else takeDifferent(taking, taken)
  return isNewId
}

function isNewInPass({ table, pass, brokenKeys }: Taking, key: string, known: number): boolean {
  return known < 0 ? !brokenKeys.has(key) : table.pass(known) !== pass
}

/** Keeps a record's text and looks for its key without following it down. */
function takeTooDeep(taking: Taking, raw: Json): boolean {
  const { stream, deps } = taking.context
  const { text, top } = deepText(raw, (part) => deps.redact(part, stream))
  const key = taking.keyOf(top)
  const known = key === null ? -1 : taking.table.find(key)
  return quarantine(taking, { key, known, raw: text, reason: tooDeep })
}

/** A copy with the content that is known: unchanged, or a repeat within the scan. It costs nothing more. */
function takeSame(taking: Taking, taken: Taken, invalid: readonly string[]): void {
  const { buffer, table, pass } = taking
  const { counts } = taking.state
  const { known: at } = taken
  const seen = table.pass(at) !== 0
  if (seen && table.kind(at) !== Kind.held) {
    counts.duplicate += 1
    table.mark(at, table.kind(at), pass)
  } else {
    counts.unchanged += 1
    table.mark(at, Kind.unchanged, pass)
  }
  buffer.seen.push(at)
  countInvalid(taking, invalid)
  observe(taking, taken)
}

/** A record as it was received, with its place among the known (-1: none). */
type Taken = { key: string; known: number; digest: Uint8Array; text: string; record: { [key: string]: Json } }

/** A copy that is new, or differs from what is known. Of two in one scan the later change wins. */
function takeDifferent(taking: Taking, taken: Taken): void {
  const { key, known, digest, text, record } = taken
  const { context, buffer, table, pass } = taking
  const { counts } = taking.state
  const changedAt = context.stream.changedAt?.(record) ?? Number.NaN
  const seen = known >= 0 && table.pass(known) !== 0 && table.kind(known) !== Kind.held
  const at = known >= 0 ? known : table.add(key)
  if (seen) counts.duplicate += 1
  if (seen && changedAt < table.changedAt(at)) {
    table.mark(at, table.kind(at), pass)
    buffer.seen.push(at)
    return
  }
  const isNew = known < 0 || table.kind(at) === Kind.uncertain || (seen && table.kind(at) === Kind.inserted)
  const kind = isNew ? Kind.inserted : Kind.updated
  if (!seen) counts[kind === Kind.inserted ? 'inserted' : 'updated'] += 1
  else if (table.kind(at) === Kind.unchanged) {
    counts.unchanged -= 1
    counts.updated += 1
  }
  table.setHash(at, digest)
  table.setChangedAt(at, changedAt)
  table.mark(at, kind, pass)
  const { rows, invalid, drifted } = taking.extract(record, key)
  if (drifted) counts.drifted += 1
  countInvalid(taking, invalid)
  table.setOdd(at, invalid.length > 0)
  buffer.seen.push(at)
  buffer.bytes += text.length
  buffer.changes.set(key, { key, hash: hex(digest), body: text, rows })
  observe(taking, taken)
}

function countInvalid({ state: { counts } }: Taking, fields: readonly string[]): void {
  for (const field of fields) counts.invalid[field] = (counts.invalid[field] ?? 0) + 1
}

/** Keeps a record for the stream's observer, if there is one. */
function observe({ context: { observer }, buffer }: Taking, { digest, text, record }: Taken): void {
  if (!observer) return
  buffer.bytes += text.length
  buffer.observed.push({ hash: hex(digest), record })
}

type Broken = { key: string | null; known: number; raw: string; reason: string }

/**
 * A record that no table can take is kept with the reason. If its key is known it was seen, so it is not gone. True when
 * this pass had not seen its key.
 */
function quarantine(taking: Taking, { key, known, raw, reason }: Broken): boolean {
  const { state, buffer, table, pass } = taking
  const isNewId = key !== null && isNewInPass(taking, key, known)
  state.counts.quarantined += 1
  if (key === null) state.unkeyed += 1
  else if (known < 0) taking.brokenKeys.add(key)
  buffer.quarantined.push({ key, reasons: [reason], raw })
  buffer.bytes += raw.length
  if (known < 0) return isNewId
  table.mark(known, table.pass(known) === 0 ? Kind.held : table.kind(known), pass)
  buffer.seen.push(known)
  return isNewId
}

function hex(digest: Uint8Array): string {
  return Buffer.from(digest).toString('hex')
}

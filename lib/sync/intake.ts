import { sha256Bytes } from '../core/hash.ts'
import type { Json } from '../core/json.ts'
import { deepText, isTooDeep } from '../core/nesting.ts'
import { type CutRecord, type Recognizer, readRecord } from '../platform/cut.ts'
import { extractorOf } from '../streams/extract.ts'
import { type Batch, emptyBuffer, seenOf } from './batch.ts'
import type { ScanContext } from './context.ts'
import { entriesOf, type IndexEntry, type KeyTable, Kind } from './key-table.ts'
import { forgetMarks, passOf, setMark } from './marks.ts'
import { rulesOf } from './modes.ts'
import type { ReadPage } from './page-reader.ts'
import { recognizerOf } from './recognize.ts'
import {
  countInvalid,
  hex,
  type IntakeState,
  isNewInPass,
  markSame,
  observe,
  type Taken,
  type Taking,
  takeCopy,
  takeSame,
} from './taking.ts'
import { canonical, keyReaderOf, tooDeep, whyUnkeyed } from './validate.ts'

/** What is gone: keys, and parents whose lists are gone with them. */
type Gone = { keys: readonly string[]; parents: ReadonlySet<string> }

/** The owner of what is known of a stream's keys, of the counts, and of what waits to be written. */
export type Intake = {
  /** Takes in a page, and answers how many keys it brought that its pass had not seen. */
  take(page: ReadPage): number
  /** Tells records that are known as they stand; undefined where each must be read. */
  recognizer(): Recognizer | undefined
  /** Whether a known content came in bytes that were not known for it. */
  readonly hasRenewed: boolean
  /** Whether enough waits, or long enough, to be written. */
  readonly isFull: boolean
  readonly isEmpty: boolean
  /** Whether anything waits that outlives the scan: more than which keys its pages showed. */
  readonly hasNews: boolean
  /** Hands over what waits, with its keys as they stand, and begins anew. */
  handOver(): Batch
  /** Marks keys as gone, and hands them over as a batch of their own. What is known of the lists of gone `parents` is forgotten. */
  remove(gone: Gone, pass: number): Batch
  readonly state: Readonly<IntakeState>
  /** Every key, as it stands. An entry holds until the next one. */
  entries(): Iterable<IndexEntry>
  /** The pass of this scan in which the list of a parent, as it stands in keys, was read to its end; 0 when in none. */
  passOf(parent: string): number
}

/** What an intake begins with: all known keys, how many of them (the first ones) stand in the index, and what was counted. */
type Beginning = { table: KeyTable; indexed: number; state: IntakeState }

/** So many records that are known by their bytes wait as long as one that is not: a run of them is written as three numbers. */
const knownForOne = 10

/** The intake of a scan over the keys that are known of its stream. Nothing is durable until a batch is written. */
export function createIntake(context: ScanContext, { table, indexed, state }: Beginning): Intake {
  const { deps } = context
  const taking: Taking = {
    context,
    table,
    extract: extractorOf(context.stream),
    keyOf: keyReaderOf(context.stream),
    state: structuredClone(state),
    brokenKeys: new Set(),
    hasRenewed: false,
    buffer: emptyBuffer(deps.clock.now()),
    pass: 0,
  }
  const handOver = (): Batch => {
    const { buffer } = taking
    taking.buffer = emptyBuffer(deps.clock.now())
    const { renewed: _renewed, ...rest } = buffer
    return { ...rest, ...seenOf(table, buffer, indexed) }
  }

  return {
    take: (page) => takePage(taking, page),
    recognizer: () => recognizerOf(context, table),
    get hasRenewed() {
      return taking.hasRenewed
    },
    get isFull() {
      const { flushRecords, flushBytes, flushMs } = deps.settings
      const { received, known, bytes, since } = taking.buffer
      const isMuch = received - known >= flushRecords || received >= flushRecords * knownForOne
      return isMuch || bytes >= flushBytes || deps.clock.now() - since >= flushMs
    },
    get isEmpty() {
      return taking.buffer.received === 0 && taking.buffer.seen.length === 0
    },
    get hasNews() {
      const { changes, quarantined, observed } = taking.buffer
      return changes.size + quarantined.length + observed.length > 0
    },
    handOver,
    remove: (gone, pass) => {
      markGone(taking, gone, pass)
      return handOver()
    },
    get state() {
      return taking.state
    },
    entries: () => entriesOf(table),
    passOf: (parent) => passOf(table, parent),
  }
}

function takePage(taking: Taking, { records, cut = [], pass, ofParent }: ReadPage): number {
  if (pass !== taking.pass) taking.brokenKeys.clear()
  taking.pass = pass
  let newIds = 0
  for (const raw of records) if (takeRecord(taking, raw, null)) newIds += 1
  for (const record of cut) if (takeCut(taking, record)) newIds += 1
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

/** Takes in a record as it came. It is read unless its very bytes are known, which may have changed since it was cut. */
function takeCut(taking: Taking, record: CutRecord): boolean {
  const { buffer, table, pass, state } = taking
  const { known, digest } = record
  const at = known >= 0 && table.hasBytes(known, digest) ? known : table.findBytes(digest)
  if (at < 0) return takeRecord(taking, readRecord(record), digest)
  state.counts.received += 1
  buffer.received += 1
  buffer.known += 1
  const isNewId = table.pass(at) !== pass
  markSame(taking, at)
  return isNewId
}

/** Takes in one record, with the digest of its bytes where it has one; true when this pass had not seen its key. */
function takeRecord(taking: Taking, raw: Json, bytes: string | null): boolean {
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
  const taken: Taken = { key, known, digest, text, record: record as Taken['record'], bytes: repaired ? null : bytes }
  const isSame = known >= 0 && table.hasHash(known, digest)
  const invalid = isSame && table.isOdd(known) ? taking.extract(record, key).invalid : null
  // What was odd and is not so to a schema that has learned since is written anew.
  const stands = known >= 0 && table.kind(known) !== Kind.uncertain && rulesOf(stream).isFinal
  if (stands && !isSame) takeCopy(taking, taken)
  else if (isSame && invalid?.length !== 0) takeSame(taking, taken, invalid ?? [])
  else takeDifferent(taking, taken)
  return isNewId
}

/** Keeps a record's text and looks for its key without following it down. */
function takeTooDeep(taking: Taking, raw: Json): boolean {
  const { stream, deps } = taking.context
  const { text, top } = deepText(raw, (part) => deps.redact(part, stream))
  const key = taking.keyOf(top)
  const known = key === null ? -1 : taking.table.find(key)
  return quarantine(taking, { key, known, raw: text, reason: tooDeep })
}

/** A copy that is new, or differs from what is known. Of two in one scan the later change wins. */
function takeDifferent(taking: Taking, taken: Taken): void {
  const { key, known, digest, text, record, bytes } = taken
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
  // What is odd is counted each time, so that it is read each time.
  if (bytes !== null && invalid.length === 0) table.setBytes(at, Buffer.from(bytes, 'latin1'))
  buffer.seen.push(at)
  buffer.bytes += text.length
  buffer.changes.set(key, { key, hash: hex(digest), body: text, rows })
  observe(taking, taken)
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

import { canonicalJson, isPlainObject } from '../core/canonical-json.ts'
import { sha256Bytes } from '../core/hash.ts'
import type { Json } from '../core/json.ts'
import { inspectorOf } from '../streams/drift.ts'
import { type Batch, type Buffered, copiedEntries, emptyBuffer } from './batch.ts'
import type { Scan } from './checkpoint.ts'
import type { ScanContext } from './context.ts'
import { type IndexEntry, type KeyTable, Kind } from './key-table.ts'
import type { ReadPage } from './page-reader.ts'
import { canonical, keyOf, reasonsAgainst } from './validate.ts'

/** What a scan made of the records it received: the intake's part of the checkpoint. */
export type IntakeState = Pick<Scan, 'counts' | 'unkeyed'>

/** The owner of what is known of a stream's keys, of the counts, and of what waits to be written. */
export type Intake = {
  /** Takes in a page, and answers how many keys it brought that its pass had not seen. */
  take(page: ReadPage): number
  /** Whether enough waits, or long enough, to be written. */
  readonly isFull: boolean
  readonly isEmpty: boolean
  /** Hands over what waits, with its keys as they stand, and begins anew. */
  handOver(): Batch
  /** Marks keys as gone, and hands them over as a batch of their own. */
  remove(keys: readonly string[], pass: number): Batch
  readonly state: Readonly<IntakeState>
  /** Every key, as it stands. An entry's hash is a view that holds until the table changes. */
  entries(): Iterable<IndexEntry>
}

/** The intake of a scan over the keys that are known of its stream. Nothing is durable until a batch is written. */
export function createIntake(context: ScanContext, { table, state }: { table: KeyTable; state: IntakeState }): Intake {
  const { deps } = context
  const taking: Taking = {
    context,
    table,
    inspect: inspectorOf(context.stream),
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
      return taking.buffer.received === 0
    },
    handOver,
    remove: (keys, pass) => {
      for (const key of keys) {
        const at = table.find(key)
        table.mark(at, Kind.deleted, pass)
        taking.buffer.seen.push(at)
      }
      taking.buffer.deletes = [...keys]
      taking.state.counts.deleted += keys.length
      return handOver()
    },
    get state() {
      return taking.state
    },
    entries: function* () {
      for (let at = 0; at < table.size; at++) yield table.entry(at)
    },
  }
}

/** The intake's own state. Nobody else sees it. */
type Taking = {
  readonly context: ScanContext
  readonly table: KeyTable
  readonly inspect: ReturnType<typeof inspectorOf>
  readonly state: IntakeState
  /** Keys of this pass that are known by broken copies alone. */
  readonly brokenKeys: Set<string>
  buffer: Buffered
  pass: number
}

function takePage(taking: Taking, { records, pass }: ReadPage): number {
  if (pass !== taking.pass) taking.brokenKeys.clear()
  taking.pass = pass
  let newIds = 0
  for (const raw of records) if (takeRecord(taking, raw)) newIds += 1
  return newIds
}

/** Takes in one record; true when this pass had not seen its key. */
function takeRecord(taking: Taking, raw: Json): boolean {
  const { context, buffer, table, pass } = taking
  const { counts } = taking.state
  const { stream, deps } = context
  const { record, text, repaired } = canonical(deps.redact(raw, stream))
  counts.received += 1
  buffer.received += 1
  if (repaired) counts.repaired += 1

  const key = keyOf(record, stream.primaryKey)
  const known = key === null ? -1 : table.find(key)
  const isNewId = key !== null && (known < 0 ? !taking.brokenKeys.has(key) : table.pass(known) !== pass)
  const digest = sha256Bytes(text)
  if (known >= 0 && table.hasHash(known, digest)) {
    takeSame(taking, known)
    observe(taking, { digest, text, record })
    return isNewId
  }
  const reasons = reasonsAgainst(stream.schema, record, key)
  if (reasons.length > 0) quarantine(taking, { record, key, known, reasons })
  else takeDifferent(taking, { key: key as string, known, digest, text, record: record as { [key: string]: Json } })
  return isNewId
}

/** A copy with the content that is known: unchanged, or a repeat within the scan. It costs nothing more. */
function takeSame({ state: { counts }, buffer, table, pass }: Taking, at: number): void {
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

type Different = { key: string; known: number; digest: Uint8Array; text: string; record: { [key: string]: Json } }

/** A valid copy that is new, or differs from what is known. Of two in one scan the later change wins. */
function takeDifferent(taking: Taking, { key, known, digest, text, record }: Different): void {
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
  const { extra, drifted } = taking.inspect(record)
  if (drifted) counts.drifted += 1
  buffer.seen.push(at)
  buffer.bytes += text.length
  buffer.changes.set(key, { key, hash: hex(digest), body: text, record, extra })
  observe(taking, { digest, text, record })
}

/** Keeps a valid record for the stream's observer, if there is one. */
function observe(
  { context: { observer }, buffer }: Taking,
  { digest, text, record }: Pick<Different, 'digest' | 'text'> & { record: Json },
): void {
  if (!observer || !isPlainObject(record)) return
  buffer.bytes += text.length
  buffer.observed.push({ hash: hex(digest), record })
}

type Broken = { record: Json; key: string | null; known: number; reasons: string[] }

/** A record that breaks its schema is kept with its reasons. If its key is known it was seen, so it is not gone. */
function quarantine(taking: Taking, { record, key, known, reasons }: Broken): void {
  const { state, buffer, table, pass } = taking
  state.counts.quarantined += 1
  if (key === null) state.unkeyed += 1
  else if (known < 0) taking.brokenKeys.add(key)
  buffer.quarantined.push({ key, reasons, raw: record })
  buffer.bytes += canonicalJson(record).length
  if (known < 0) return
  table.mark(known, table.pass(known) === 0 ? Kind.held : table.kind(known), pass)
  buffer.seen.push(known)
}

function hex(digest: Uint8Array): string {
  return Buffer.from(digest).toString('hex')
}

import { canonicalJson, isPlainObject } from '../core/canonical-json.ts'
import { FatalError } from '../core/errors.ts'
import { sha256Bytes } from '../core/hash.ts'
import type { Json } from '../core/json.ts'
import type { Page } from '../platform/paging.ts'
import { readingOf } from '../streams/stream.ts'
import type { Attempt } from './attempt.ts'
import { Kind } from './key-table.ts'
import { tokenDigest } from './pages.ts'
import { reasonsAgainst, repairText } from './validate.ts'

const barrenPagesAllowed = 100

/**
 * Takes in a page: redacts each record, compares it with what is known, validates what is new or changed, and moves the
 * scan's position. Nothing is durable yet: the checkpoint moves when the buffer is flushed.
 */
export function takePage(attempt: Attempt, page: Page): void {
  const { scan, buffer, stream } = attempt
  let newIds = 0
  for (const raw of page.records) if (takeRecord(attempt, raw)) newIds += 1
  scan.counts.pages += 1
  scan.barrenPages = newIds > 0 ? 0 : scan.barrenPages + 1
  if (readingOf(stream).endsWith(page, newIds)) {
    scan.position = { at: 'end' }
    return
  }
  if (page.nextToken === null) throw noNextPage(stream.name)
  const digest = tokenDigest(page.nextToken)
  attempt.usedTokens.add(digest)
  buffer.tokens.push(digest)
  scan.position = { at: 'page', token: page.nextToken }
  if (scan.barrenPages >= barrenPagesAllowed) throw stalled(stream.name)
}

/** Takes in one record; true when this pass had not seen its key. */
function takeRecord(attempt: Attempt, raw: Json): boolean {
  const { scan, buffer, stream, table, deps } = attempt
  const { record, text, repaired } = canonical(deps.redact(raw, stream))
  scan.counts.received += 1
  buffer.received += 1
  if (repaired) scan.counts.repaired += 1

  const key = keyOf(record, stream.primaryKey)
  const known = key === null ? -1 : table.find(key)
  const isNewId = key !== null && (known < 0 ? !attempt.brokenKeys.has(key) : table.pass(known) !== scan.pass)
  const digest = sha256Bytes(text)
  if (known >= 0 && table.hasHash(known, digest)) {
    takeSame(attempt, known)
    observe(attempt, { digest, text, record })
    return isNewId
  }
  const reasons = reasonsAgainst(stream.schema, record, key)
  if (reasons.length > 0) quarantine(attempt, { record, key, known, reasons })
  else takeDifferent(attempt, { key: key as string, known, digest, text, record: record as { [key: string]: Json } })
  return isNewId
}

/** A copy with the content that is known: unchanged, or a repeat within the scan. It costs nothing more. */
function takeSame({ scan, buffer, table }: Attempt, at: number) {
  const seen = table.pass(at) !== 0
  if (seen && table.kind(at) !== Kind.held) {
    scan.counts.duplicate += 1
    table.mark(at, table.kind(at), scan.pass)
  } else {
    scan.counts.unchanged += 1
    table.mark(at, Kind.unchanged, scan.pass)
  }
  buffer.seen.push(at)
}

type Different = { key: string; known: number; digest: Uint8Array; text: string; record: { [key: string]: Json } }

/** A valid copy that is new, or differs from what is known. Of two in one scan the later change wins. */
function takeDifferent(attempt: Attempt, { key, known, digest, text, record }: Different) {
  const { scan, buffer, stream, table } = attempt
  const changedAt = stream.changedAt?.(record) ?? Number.NaN
  const seen = known >= 0 && table.pass(known) !== 0 && table.kind(known) !== Kind.held
  const at = known >= 0 ? known : table.add(key)
  if (seen) scan.counts.duplicate += 1
  if (seen && changedAt < table.changedAt(at)) {
    table.mark(at, table.kind(at), scan.pass)
    buffer.seen.push(at)
    return
  }
  const isNew = known < 0 || table.kind(at) === Kind.doubtful || (seen && table.kind(at) === Kind.inserted)
  const kind = isNew ? Kind.inserted : Kind.updated
  if (!seen) scan.counts[kind === Kind.inserted ? 'inserted' : 'updated'] += 1
  else if (table.kind(at) === Kind.unchanged) {
    scan.counts.unchanged -= 1
    scan.counts.updated += 1
  }
  table.setHash(at, digest)
  table.setChangedAt(at, changedAt)
  table.mark(at, kind, scan.pass)
  const { extra, drifted } = attempt.inspect(record)
  if (drifted) scan.counts.drifted += 1
  buffer.seen.push(at)
  buffer.bytes += text.length
  buffer.changes.set(key, { key, hash: Buffer.from(digest).toString('hex'), body: text, record, extra })
  observe(attempt, { digest, text, record })
}

/** Keeps a valid record for the stream's observer, if there is one. */
function observe(
  { observer, buffer }: Attempt,
  { digest, text, record }: Pick<Different, 'digest' | 'text'> & { record: Json },
) {
  if (!observer || !isPlainObject(record)) return
  buffer.bytes += text.length
  buffer.observed.push({ hash: Buffer.from(digest).toString('hex'), record })
}

type Broken = { record: Json; key: string | null; known: number; reasons: string[] }

/** A record that breaks its schema is kept with its reasons. If its key is known it was seen, so it is not gone. */
function quarantine(attempt: Attempt, { record, key, known, reasons }: Broken) {
  const { scan, buffer, table } = attempt
  scan.counts.quarantined += 1
  if (key === null) scan.unkeyed += 1
  else if (known < 0) attempt.brokenKeys.add(key)
  buffer.quarantined.push({ key, reasons, raw: record })
  buffer.bytes += canonicalJson(record).length
  if (known < 0) return
  table.mark(known, table.pass(known) === 0 ? Kind.held : table.kind(known), scan.pass)
  buffer.seen.push(known)
}

/** The redacted record with well-formed strings, and its canonical text. */
function canonical(record: Json): { record: Json; text: string; repaired: boolean } {
  const text = canonicalJson(record)
  // JSON.stringify escapes half a surrogate pair; a whole one stands as it is.
  if (!text.includes('\\ud')) return { record, text, repaired: false }
  const whole = repairText(record)
  const wholeText = canonicalJson(whole)
  return { record: whole, text: wholeText, repaired: wholeText !== text }
}

// DynamoDB keys hold at most 2048 bytes, the stream's name included.
const keyBytesAllowed = 1_500

function keyOf(record: Json, field: string): string | null {
  const value = isPlainObject(record) ? record[field] : undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  const usable = typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= keyBytesAllowed
  return usable ? value : null
}

function noNextPage(stream: string) {
  return new FatalError(`${stream}: a page is neither the last nor names a next one.`, { code: 'bad_pagination' })
}

function stalled(stream: string) {
  return new FatalError(
    `${stream}: the list is stalled, ${barrenPagesAllowed} pages in a row brought no new record although each had a fresh ` +
      'page token. Nothing was deleted; report it to the platform.',
    { code: 'stalled_list' },
  )
}

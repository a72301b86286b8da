import * as z from 'zod'
import type { TrailReader } from '../trail/ports.ts'
import { readAhead } from '../trail/read-ahead.ts'
import { genesis, hashesOf, keyOf, type Series, sequenceOf } from '../trail/sealed.ts'

/** What can be wrong with stored evidence. */
type FaultKind =
  | 'altered'
  | 'bad_signature'
  | 'contradicted'
  | 'digest_missing'
  | 'fork'
  | 'misplaced'
  | 'missing'
  | 'nothing_found'
  | 'unexpected'
  | 'unknown_key'
  | 'unsigned'

/** A fault of stored evidence, with its place: an object's key, or the prefix under which something is not there. */
export type Fault = { kind: FaultKind; place: string; message: string }

/** An object of a chain, as far as it could be read. */
export type Walked = {
  sequence: number
  key: string
  bytes: Uint8Array
  /** The hash it states and the one it has: they differ in an altered object, and are empty in an unreadable one. */
  stated: string
  computed: string
  /** Null when the object is no JSON. */
  value: unknown
}

/** The keys of a chain in their order, and who is told of faults. */
export type Sight = { keys: readonly string[]; report: (fault: Fault) => void }

const Place = z.object({ sequence: z.number(), previousHash: z.string() })
const readsAtOnce = 32

/**
 * Reads a chain from its stored bytes, from the first object to the last, and reports what is wrong with each: bytes,
 * name, place, and the link to the object before. One alteration is one fault: what follows an altered object is
 * compared with the hash that it stated.
 */
export async function* walkChain(reader: TrailReader, series: Series, { keys, report }: Sight): AsyncGenerator<Walked> {
  let before: Pick<Walked, 'sequence' | 'stated' | 'computed'> = { sequence: 0, stated: genesis, computed: genesis }
  for await (const { item: key, value: bytes } of readAhead(keys, readsAtOnce, (each) => reader.get(each))) {
    const sequence = sequenceOf(series, key) as number
    if (sequence > before.sequence + 1) report(missing(series, before.sequence + 1, sequence - 1))
    if (!bytes) {
      report(missing(series, sequence, sequence))
      continue
    }
    const object = inspect({ sequence, key, bytes }, report)
    checkLink(object, before, report)
    yield object
    before = object
  }
}

/** The fault of objects that are not there. */
export function missing(series: Series, from: number, to: number): Fault {
  return {
    kind: 'missing',
    place: from === to ? keyOf(series, from) : `${keyOf(series, from)} to ${keyOf(series, to)}`,
    message: from === to ? 'is not there' : `are not there (${to - from + 1} objects)`,
  }
}

function inspect(
  { sequence, key, bytes }: Pick<Walked, 'sequence' | 'key' | 'bytes'>,
  report: (fault: Fault) => void,
): Walked {
  const hashes = hashesOf(bytes)
  if (!hashes) {
    report({ kind: 'altered', place: key, message: 'does not begin with its hash, as every object here was stored' })
    return { sequence, key, bytes, stated: '', computed: '', value: null }
  }
  const { stated, computed } = hashes
  if (stated !== computed) {
    report({ kind: 'altered', place: key, message: `states the hash ${stated}, but its bytes have ${computed}` })
  }
  return { sequence, key, bytes, stated, computed, value: parsed(bytes) }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    // The hash has vouched for the bytes; what is read from them here are names and small numbers.
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return null
  }
}

type Before = Pick<Walked, 'sequence' | 'stated' | 'computed'>

function checkLink(object: Walked, before: Before, report: (fault: Fault) => void): void {
  const { key, sequence, stated, computed } = object
  // What an altered object says of its place proves nothing.
  if (stated === '' || stated !== computed) return
  const place = Place.safeParse(object.value)
  if (!place.success) {
    report({ kind: 'altered', place: key, message: 'has a right hash, but is not of this format' })
    return
  }
  if (place.data.sequence !== sequence) {
    report({ kind: 'misplaced', place: key, message: `holds the object with sequence ${place.data.sequence}` })
    return
  }
  // After a hole or an unreadable object there is nothing to compare with: that fault is already reported.
  if (before.sequence !== sequence - 1 || before.stated === '') return
  if (place.data.previousHash === before.stated || place.data.previousHash === before.computed) return
  const message = `does not follow from the object before it: it names ${place.data.previousHash}, which is not ${before.stated}`
  report({ kind: 'fork', place: key, message })
}

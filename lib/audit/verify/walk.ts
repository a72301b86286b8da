import * as z from 'zod'
import { keysPrefix } from '../trail/digest.ts'
import type { TrailReader } from '../trail/ports.ts'
import { readAhead } from '../trail/read-ahead.ts'
import { type ChainName, chainNames, genesis, hashesOf, keyOf, refuseLaterObject, sequenceOf } from '../trail/sealed.ts'

/** Kinds of things that can be wrong with stored evidence. */
type EvidenceFaultKind =
  | 'altered'
  | 'bad_signature'
  | 'contradicted'
  | 'digest_missing'
  | 'fork'
  | 'misplaced'
  | 'missing'
  | 'nothing_found'
  | 'set_back'
  | 'unexpected'
  | 'unknown_key'
  | 'unsigned'

/** A fault of stored evidence, with its place: an object's key, or the prefix under which something is not there. */
export type EvidenceFault = { kind: EvidenceFaultKind; place: string; message: string }

/** Something that limits what the evidence shows, and is no fault of it. */
export type EvidenceNote = Pick<EvidenceFault, 'place' | 'message'>

/** An object of a chain, as far as it could be read. */
export type ChainObject = {
  sequence: number
  key: string
  bytes: Uint8Array
  /** The hash it states and the one it has: they differ in an altered object, and are empty in an unreadable one. */
  stated: string
  computed: string
  /** Content as JSON; null when the object is none. */
  value: unknown
  /** True when it is an unaltered object that belongs elsewhere: it says nothing of this place. */
  misplaced: boolean
}

/** The keys of a chain in their order, and the listener for faults. */
export type WalkOptions = { keys: readonly string[]; report: (fault: EvidenceFault) => void }

/** The keys of all that is stored of a trail. Digests sort before entries, so that what they vouch for is listed later. */
export type Inventory = Record<ChainName, string[]> & { signatures: Set<string>; publicKeys: Set<string> }

const StatedLink = z.looseObject({ sequence: z.number(), previousHash: z.string() })
/** The field by which the objects of a chain are told from those of another. */
const ownField: Record<ChainName, string> = { entries: 'recordedAt', findings: 'observedAt', digests: 'writtenAt' }
const readsAtOnce = 32

/** Lists a trail, and reports what does not belong there. */
export async function takeInventory(reader: TrailReader, report: (fault: EvidenceFault) => void): Promise<Inventory> {
  const found: Inventory = { entries: [], findings: [], digests: [], signatures: new Set(), publicKeys: new Set() }
  for (const key of await reader.list('audit/')) {
    const chain = chainNames.find((name) => sequenceOf(name, key) !== null)
    if (chain) found[chain].push(key)
    else if (/^audit\/digests\/\d{10}\.sig$/.test(key)) found.signatures.add(key)
    else if (key.startsWith(keysPrefix) && /^[0-9a-f]{64}\.pem$/.test(key.slice(keysPrefix.length))) {
      found.publicKeys.add(key)
    } else report({ kind: 'unexpected', place: key, message: 'has no name that belongs to a trail' })
  }
  return found
}

/**
 * Reads a chain from its stored bytes, from the first object to the last, and reports what is wrong with each: bytes,
 * name, place, and the link to the object before. One alteration is one fault, at its own place: what follows an altered
 * object is compared with the hash that it stated, and what follows a misplaced one with nothing.
 */
export async function* walkChain(
  reader: TrailReader,
  chain: ChainName,
  { keys, report }: WalkOptions,
): AsyncGenerator<ChainObject> {
  let before: Predecessor = { sequence: 0, stated: genesis, computed: genesis }
  for await (const { item: key, value: bytes } of readAhead(keys, readsAtOnce, (each) => reader.get(each))) {
    const sequence = sequenceOf(chain, key) as number
    if (sequence > before.sequence + 1) report(missing(chain, before.sequence + 1, sequence - 1))
    if (!bytes) {
      report(missing(chain, sequence, sequence))
      continue
    }
    const object = inspect({ sequence, key, bytes }, report)
    const misplaced = isMisplaced(object, { chain, report })
    if (!misplaced) checkLink(object, before, report)
    yield { ...object, misplaced }
    before = misplaced ? { sequence, stated: '', computed: '' } : object
  }
}

/** The fault of objects that are not there. */
export function missing(chain: ChainName, from: number, to: number): EvidenceFault {
  return {
    kind: 'missing',
    place: from === to ? keyOf(chain, from) : `${keyOf(chain, from)} to ${keyOf(chain, to)}`,
    message: from === to ? 'is not there' : `are not there (${to - from + 1} objects)`,
  }
}

type InspectedObject = Omit<ChainObject, 'misplaced'>

function inspect(
  { sequence, key, bytes }: Pick<ChainObject, 'sequence' | 'key' | 'bytes'>,
  report: (fault: EvidenceFault) => void,
): InspectedObject {
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

type Predecessor = Pick<ChainObject, 'sequence' | 'stated' | 'computed'>

/** The place that an unaltered object states; null when it is altered: then what it says of its place proves nothing. */
function statedLink({ stated, computed, value }: InspectedObject): z.infer<typeof StatedLink> | null {
  return (stated !== '' && stated === computed && StatedLink.safeParse(value).data) || null
}

function isMisplaced(
  object: InspectedObject,
  { chain, report }: { chain: ChainName; report: (fault: EvidenceFault) => void },
): boolean {
  const { key, sequence } = object
  const link = statedLink(object)
  if (!link) return false
  const origin = ownField[chain] in link ? chain : (chainNames.find((name) => ownField[name] in link) ?? chain)
  if (link.sequence === sequence && origin === chain) return false
  const which = origin === chain ? `the object with sequence ${link.sequence}` : keyOf(origin, link.sequence)
  report({ kind: 'misplaced', place: key, message: `holds ${which}` })
  return true
}

/**
 * Checks that an object follows from the one before it.
 * @throws FatalError `configuration` when it does, and a later version wrote it: what more such an object proves is not known here.
 */
function checkLink(object: InspectedObject, before: Predecessor, report: (fault: EvidenceFault) => void): void {
  const { key, sequence, stated, computed } = object
  if (stated === '' || stated !== computed) return
  const link = statedLink(object)
  if (!link) {
    report({ kind: 'altered', place: key, message: 'has a right hash, but is not of this format' })
    return
  }
  // After a gap or an unreadable object there is nothing to compare with: that fault is already reported.
  if (before.sequence !== sequence - 1 || before.stated === '') return
  if (link.previousHash === before.stated || link.previousHash === before.computed) {
    refuseLaterObject(link)
    return
  }
  const message = `does not follow from the object before it: it names ${link.previousHash}, which is not ${before.stated}`
  report({ kind: 'fork', place: key, message })
}

import type { KeyObject } from 'node:crypto'
import { Digest, publicKeyKeyOf, signatureKeyOf } from '../trail/digest.ts'
import type { ChainHead } from '../trail/head.ts'
import type { TrailReader } from '../trail/ports.ts'
import { keyIdOf, readPublicKey, signatureFormOf } from '../trail/signature.ts'
import { type CheckedSignature, isAsWritten, otherForm } from './signature-forms.ts'
import { type ChainObject, type EvidenceFault, type Inventory, missing, walkChain } from './walk.ts'

/** A digest that was read and whose signature is right, with the form of that. */
export type CheckedDigest = Digest & CheckedSignature & { key: string }

type Options = {
  inventory: Inventory
  report: (fault: EvidenceFault) => void
  trustedKeyIds?: readonly string[]
  now?: number
  /** The digest up to which all must be there. */
  head?: ChainHead | undefined
}

/** Reads the digests in order and checks signatures and due times. Yields those that vouch for something. */
export async function* checkDigests(reader: TrailReader, options: Options): AsyncGenerator<CheckedDigest> {
  const { report, now, head, inventory } = options
  const unused = { signatures: new Set(inventory.signatures), publicKeys: new Set(inventory.publicKeys) }
  const readKey = createKeyReader(reader)
  let before: CheckedDigest | null = null
  let last: ChainObject | null = null
  for await (const object of walkChain(reader, 'digests', { keys: inventory.digests, report })) {
    last = object
    unused.signatures.delete(signatureKeyOf(object.sequence))
    const digest = await checkDigest(reader, object, { ...options, readKey })
    if (!digest) continue
    unused.publicKeys.delete(publicKeyKeyOf(digest.keyId))
    // Of one that is missing between them nobody knows when it was written.
    const follows = before?.sequence === digest.sequence - 1
    if (follows && before?.nextDueAt && Date.parse(digest.writtenAt) > Date.parse(before.nextDueAt)) {
      report(overdue(before.key, `was followed on ${digest.writtenAt}, but the next was due by ${before.nextDueAt}`))
    }
    yield digest
    before = digest
  }
  if (head) compareEnd(last, head, report)
  for (const place of [...unused.signatures, ...unused.publicKeys]) {
    report({ kind: 'unexpected', place, message: 'belongs to no digest' })
  }
  const isLast = before?.sequence === last?.sequence
  if (isLast && before?.nextDueAt && now !== undefined && now > Date.parse(before.nextDueAt)) {
    report(overdue(before.key, `is the newest digest, but the next was due by ${before.nextDueAt}`))
  }
}

function overdue(place: string, message: string): EvidenceFault {
  return { kind: 'digest_missing', place, message }
}

type KeyReader = (keyId: string) => Promise<KeyObject | null>

/** Reads public keys, each once. */
function createKeyReader(reader: TrailReader): KeyReader {
  const keys = new Map<string, Promise<KeyObject | null>>()
  const read = async (keyId: string) => {
    const pem = await reader.get(publicKeyKeyOf(keyId))
    const key = pem && readPublicKey(pem)
    if (!key || keyIdOf(key) !== keyId) return null
    // Other text for the same key was not written by us.
    return Buffer.from(pem).toString() === key.export({ type: 'spki', format: 'pem' }) ? key : null
  }
  return (keyId) => {
    const known = keys.get(keyId) ?? read(keyId)
    keys.set(keyId, known)
    return known
  }
}

async function checkDigest(
  reader: TrailReader,
  { key, sequence, bytes, stated, computed, value, misplaced }: ChainObject,
  { report, trustedKeyIds, readKey }: Options & { readKey: KeyReader },
): Promise<CheckedDigest | null> {
  if (stated !== computed || misplaced) return null
  const parsed = Digest.safeParse(value)
  if (!parsed.success) {
    report({ kind: 'altered', place: key, message: 'has a right hash, but is no digest' })
    return null
  }
  const { keyId } = parsed.data
  if (trustedKeyIds && !trustedKeyIds.includes(keyId)) {
    report({
      kind: 'unknown_key',
      place: key,
      message: `is signed by the key ${keyId}, which is not one that you trust; if it signed before, name it with --key-id`,
    })
    return null
  }
  const publicKey = await readKey(keyId)
  if (!publicKey) {
    const message = 'is missing or is not the key that its name says; signatures by it can not be checked'
    report({ kind: 'unknown_key', place: publicKeyKeyOf(keyId), message })
    return null
  }
  const place = signatureKeyOf(sequence)
  const signature = await reader.get(place)
  const form = signature && signatureFormOf(publicKey, bytes, signature)
  if (!form) {
    const message = signature ? `is not a signature of ${key} by the key ${keyId}` : 'is not there'
    report({ kind: 'bad_signature', place, message })
    return null
  }
  const digest = { ...parsed.data, key, form }
  // It vouches all the same: what it signs is what was signed.
  if (!isAsWritten(digest)) report({ kind: 'altered', place, message: otherForm })
  return digest
}

function compareEnd(last: ChainObject | null, head: ChainHead, report: (fault: EvidenceFault) => void): void {
  const reached = last?.sequence ?? 0
  if (reached < head.sequence) report(missing('digests', reached + 1, head.sequence))
  if (
    last &&
    !last.misplaced &&
    reached === head.sequence &&
    head.hash !== last.stated &&
    head.hash !== last.computed
  ) {
    report({ kind: 'contradicted', place: last.key, message: 'has not the hash that the head in the state table has' })
  }
}

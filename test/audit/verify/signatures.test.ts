import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, it } from 'vitest'
import { extendChain } from '../../../lib/audit/trail/append-plan.ts'
import { publicKeyKeyOf, signatureKeyOf } from '../../../lib/audit/trail/digest.ts'
import { keyOf } from '../../../lib/audit/trail/sealed.ts'
import { auditParts, otherForm, revisions, scan, signal, testSigner } from '../memory.ts'
import { faultsOf, recordEvidence, verify } from './evidence.ts'

const { objects: evidence, online, tampered } = await recordEvidence()

/** Writes a digest as it was before signatures had one form. */
async function writeOlderDigest({ trail, clock }: ReturnType<typeof auditParts>, form: 'low-s' | 'high-s') {
  const keyId = await testSigner.keyId()
  const publicKey = { key: publicKeyKeyOf(keyId), bytes: Buffer.from(await testSigner.publicKeyPem()) }
  await trail.append(async (heads) => {
    const { entries, findings } = heads
    const writtenAt = new Date(clock.now()).toISOString()
    const draft = { head: { entries, findings }, keyId, writtenAt, nextDueAt: null }
    const { writes, head } = extendChain('digests', heads.digests, [draft])
    const signature = await testSigner.sign(writes[0]!.bytes)
    const bytes = form === 'high-s' ? otherForm(signature) : signature
    const signed = { key: signatureKeyOf(head.sequence), bytes }
    return { writes: [publicKey, signed, ...writes], next: { ...heads, digests: head } }
  }, signal)
}

it('trusts no other key, neither beside the digests nor in place of the right one', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const digest = keyOf('digests', 3)
  const resigned = tampered((it) => it.set(signatureKeyOf(3), sign('sha256', it.get(digest)!, other.privateKey)))
  expect(await faultsOf(resigned)).toEqual([`bad_signature ${signatureKeyOf(3)}`])
  const pem = `audit/keys/${await testSigner.keyId()}.pem`
  const swapped = tampered((it) => it.set(pem, Buffer.from(other.publicKey.export({ type: 'spki', format: 'pem' }))))
  expect(await faultsOf(swapped)).toContain(`unknown_key ${pem}`)
  expect(await faultsOf(evidence, { trustedKeyIds: ['f'.repeat(64)] })).toContain(`unknown_key ${digest}`)
  const unsigned = tampered((it) => it.delete(signatureKeyOf(2)))
  expect(await faultsOf(unsigned)).toContain(`bad_signature ${signatureKeyOf(2)}`)
})

it('finds a signature that was replaced by its other form, which proves the same (AUD-08)', async () => {
  for (const sequence of [1, 2, 3]) {
    const key = signatureKeyOf(sequence)
    const objects = tampered((it) => it.set(key, otherForm(it.get(key)!)))
    for (const options of [undefined, online]) expect(await faultsOf(objects, options)).toEqual([`altered ${key}`])
  }
})

it('takes no other encoding of a signature', async () => {
  const key = signatureKeyOf(1)
  const right = evidence.get(key)!
  const long = Buffer.from([0x30, 0x81, ...right.subarray(1)])
  const trailing = Buffer.from([...right, 0])
  const padded = Buffer.from([0x30, right[1]! + 1, 0x02, right[3]! + 1, 0, ...right.subarray(4)])
  for (const bytes of [long, trailing, padded, Buffer.alloc(0)]) {
    expect(await faultsOf(tampered((it) => it.set(key, bytes)))).toEqual([`bad_signature ${key}`])
  }
})

it('reads older digests, whose signatures have either form, with a note on what can not be seen', async () => {
  const parts = auditParts({ promisedMs: null })
  await parts.recorder.record(revisions(1, 2), scan, signal)
  for (const form of ['low-s', 'high-s'] as const) await writeOlderDigest(parts, form)
  await parts.digester.write(signal)
  const { objects } = parts.store
  const { faults, notes } = await verify(objects)
  expect(faults).toEqual([])
  const place = `${keyOf('digests', 1)} to ${keyOf('digests', 2)}`
  expect(notes).toEqual([{ place, message: expect.stringContaining('1 of 2 with a high s') }])
  const key = signatureKeyOf(3)
  objects.set(key, otherForm(objects.get(key)!))
  expect(await faultsOf(objects)).toEqual([`altered ${key}`])
})

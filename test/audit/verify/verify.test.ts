import { generateKeyPairSync, sign } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { signatureKeyOf } from '../../../lib/audit/trail/digest.ts'
import { type ChainHeads, newHead } from '../../../lib/audit/trail/head.ts'
import { keyOf, type Link, seal } from '../../../lib/audit/trail/sealed.ts'
import { type Verification, type VerifyOptions, verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { auditParts, memoryObjects, revisions, scan, signal, stored, testSigner } from '../memory.ts'

type Objects = Map<string, Uint8Array>
const hour = 3_600_000
let evidence: Objects
let heads: ChainHeads
let now: number

/** Five entries, a finding, and three digests: of the first two entries, of all, and of a day without change. */
beforeAll(async () => {
  const { store, head, clock, recorder, digester } = auditParts()
  await recorder.record(revisions(1, 2), scan, signal)
  await digester.writeIfDue(signal)
  clock.at += 20 * hour
  await recorder.record(revisions(3, 5), scan, signal)
  await recorder.compare(new Set([1, 2, 3, 5]), scan, signal)
  await digester.writeIfDue(signal)
  clock.at += 24 * hour
  await digester.write(signal)
  evidence = store.objects
  heads = (await head.read())!.state.heads
  now = clock.at
})

function verify(objects: Objects, options?: VerifyOptions): Promise<Verification> {
  return verifyTrail(memoryObjects(objects), options)
}
function online(): VerifyOptions {
  return { head: async () => heads, now }
}
function tampered(change: (objects: Objects) => void): Objects {
  const objects = new Map(evidence)
  change(objects)
  return objects
}
async function faultsOf(objects: Objects, options?: VerifyOptions) {
  return (await verify(objects, options)).faults.map(({ kind, place }) => `${kind} ${place}`)
}
function entry(sequence: number) {
  return keyOf('entries', sequence)
}

/** An entry with another content and its own right hash, as a forger would write it. */
function forged(sequence: number, change: object = { revision: 99 }): Uint8Array {
  const { hash: _, ...fields } = stored(evidence, 'entries')[sequence - 1] as { hash: string }
  return seal({ ...(fields as unknown as Link), ...change }).bytes
}

describe('verification', () => {
  it('finds nothing wrong with what was recorded, on the bucket and on a copy', async () => {
    const { keyIds } = (await verify(evidence)).digests
    for (const options of [undefined, online(), { trustedKeyIds: keyIds }]) {
      expect(await verify(evidence, options)).toMatchObject({
        faults: [],
        entries: { checked: 5, last: heads.entries },
        findings: { checked: 1 },
        digests: { checked: 3, newest: { head: { entries: heads.entries } }, keyIds: [await testSigner.keyId()] },
        unsignedEntries: 0,
      })
    }
  })

  it.each([[[1]], [[3]], [[2, 3]], [[4, 5]], [[5]], [[1, 2, 3, 4, 5]]])(
    'misses deleted entries %j (AUD-04)',
    async (gone) => {
      const objects = tampered((it) => {
        for (const sequence of gone) it.delete(entry(sequence))
      })
      const place =
        gone.length === 1 ? entry(gone[0] as number) : `${entry(gone[0] as number)} to ${entry(gone.at(-1) as number)}`
      if (gone.length < 5) expect(await faultsOf(objects)).toEqual([`missing ${place}`])
      for (const options of [undefined, online()])
        expect((await faultsOf(objects, options)).join()).toContain('missing')
    },
  )

  it('finds a copy in which nothing is left, and a trail that is gone with its head', async () => {
    expect(await faultsOf(new Map())).toEqual(['nothing_found audit/'])
    expect(await faultsOf(new Map(), { head: async () => newHead().heads, now })).toEqual(['nothing_found audit/'])
    expect((await faultsOf(new Map(), online())).length).toBeGreaterThan(0)
  })

  it('places an entry that was replaced by one with a right hash, in the middle, at the end, and with all after it', async () => {
    const middle = tampered((it) => it.set(entry(4), forged(4)))
    expect(await faultsOf(middle)).toEqual([`fork ${entry(5)}`])
    const last = tampered((it) => it.set(entry(5), forged(5)))
    expect(await faultsOf(last)).toContain(`contradicted ${entry(5)}`)
    const tail = tampered((it) => {
      const fourth = forged(4)
      const previousHash = Buffer.from(fourth).toString().slice(9, 73)
      it.set(entry(4), fourth).set(entry(5), forged(5, { previousHash }))
    })
    expect(await faultsOf(tail)).toContain(`contradicted ${entry(5)}`)
  })

  it('places entries that changed places', async () => {
    const objects = tampered((it) => {
      it.set(entry(2), evidence.get(entry(3))!).set(entry(3), evidence.get(entry(2))!)
    })
    expect(await faultsOf(objects)).toEqual(expect.arrayContaining([`misplaced ${entry(2)}`, `misplaced ${entry(3)}`]))
  })

  it('places what was added: an entry after the last, and a file of another name', async () => {
    const sixth = seal({ ...JSON.parse('{"revision":6}'), version: 1, sequence: 6, previousHash: heads.entries.hash })
    const longer = tampered((it) => it.set(entry(6), sixth.bytes))
    expect(await faultsOf(longer)).toEqual([`unsigned ${entry(6)}`])
    expect(await faultsOf(longer, online())).toEqual([`unexpected ${entry(6)}`])
    for (const name of [
      'audit/entries/0000000003.json.bak',
      'audit/x',
      'audit/signatures/0000000001.json',
      'audit/toString/0000000001.json',
      'audit/digests/0000000009.sig',
      `audit/keys/${'a'.repeat(64)}.pem`,
    ]) {
      expect(await faultsOf(tampered((it) => it.set(name, Buffer.from('x'))))).toEqual([`unexpected ${name}`])
    }
  })

  it('does not take entries for added that were recorded while it read', async () => {
    const { store, head, recorder, digester } = auditParts()
    await recorder.record(revisions(1, 2), scan, signal)
    await digester.write(signal)
    const early = (await head.read())!.state.heads
    await recorder.record(revisions(3, 4), scan, signal)
    let reads = 0
    const moving = async () => (reads++ === 0 ? early : (await head.read())!.state.heads)
    expect(await verifyTrail(store, { head: moving })).toMatchObject({ faults: [], unsignedEntries: 2 })
  })

  it('finds entries and head that were set back together, by the digests', async () => {
    const objects = tampered((it) => [3, 4, 5].map((sequence) => it.delete(entry(sequence))))
    const second = { sequence: 2, hash: String(stored(evidence, 'entries')[1]?.hash) }
    const faults = await faultsOf(objects, { ...online(), head: async () => ({ ...heads, entries: second }) })
    expect(faults).toContain(`missing ${entry(3)} to ${entry(5)}`)
  })

  it('finds that all was set back to an earlier day, by the digest that is then overdue', async () => {
    const objects = tampered((it) => {
      for (const sequence of [3, 4, 5]) it.delete(entry(sequence))
      for (const sequence of [2, 3]) it.delete(keyOf('digests', sequence)) && it.delete(signatureKeyOf(sequence))
      it.delete(keyOf('findings', 1))
    })
    expect(await faultsOf(objects, { now })).toEqual([`digest_missing ${keyOf('digests', 1)}`])
    expect((await faultsOf(objects, online())).join()).toContain('missing audit/digests/0000000002.json')
  })

  it('finds a digest that came too late, and one that is due', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 1), scan, signal)
    await parts.digester.write(signal)
    parts.clock.at += 27 * hour
    expect(await faultsOf(parts.store.objects, { now: parts.clock.at })).toEqual([
      `digest_missing ${keyOf('digests', 1)}`,
    ])
    await parts.digester.write(signal)
    expect(await faultsOf(parts.store.objects)).toEqual([`digest_missing ${keyOf('digests', 1)}`])
  })

  it('promises no digest where the worker runs only now and then', async () => {
    const parts = auditParts({ promisedMs: null })
    await parts.recorder.record(revisions(1, 1), scan, signal)
    for (const _ of [1, 2]) {
      await parts.digester.write(signal)
      parts.clock.at += 1000 * hour
    }
    expect(await faultsOf(parts.store.objects, { now: parts.clock.at })).toEqual([])
  })

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

  it('finds any byte that was changed, and says in which object', async () => {
    const bytes = fc
      .constantFrom(...evidence)
      .chain(([key, content]) => fc.record({ key: fc.constant(key), at: fc.nat(content.length - 1), bit: fc.nat(7) }))
    await fc.assert(
      fc.asyncProperty(bytes, async ({ key, at, bit }) => {
        const content = Uint8Array.from(evidence.get(key)!)
        content[at] = content[at]! ^ (1 << bit)
        const faults = (await verify(tampered((it) => it.set(key, content)))).faults
        expect(faults.map(({ place }) => place)).toContain(key)
      }),
      { numRuns: 400 },
    )
  })

  it('finds any deletion, cut, repetition or exchange', async () => {
    const keys = [...evidence.keys()].filter((key) => !key.endsWith('.pem'))
    const key = fc.constantFrom(...keys)
    const change = fc.oneof(
      fc.record({ how: fc.constant('delete' as const), keys: fc.uniqueArray(key, { minLength: 1 }) }),
      fc.record({
        how: fc.constant('cut' as const),
        keys: fc.tuple(key),
        to: fc.double({ min: 0, max: 0.999, noNaN: true }),
      }),
      fc.record({ how: fc.constant('exchange' as const), keys: fc.uniqueArray(key, { minLength: 2, maxLength: 2 }) }),
      fc.record({ how: fc.constant('repeat' as const), keys: fc.uniqueArray(key, { minLength: 2, maxLength: 2 }) }),
    )
    await fc.assert(
      fc.asyncProperty(change, async (it) => {
        const objects = tampered((objects) => {
          const [first = '', second = ''] = it.keys
          const [a, b] = [evidence.get(first)!, evidence.get(second)!]
          if (it.how === 'delete') for (const each of it.keys) objects.delete(each)
          if (it.how === 'cut') objects.set(first, a.subarray(0, Math.floor(a.length * it.to)))
          if (it.how === 'exchange') objects.set(first, b).set(second, a)
          if (it.how === 'repeat') objects.set(first, b)
        })
        expect((await verify(objects, online())).faults).not.toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})

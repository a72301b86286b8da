import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signatureKeyOf } from '../../../lib/audit/trail/digest.ts'
import { newHead } from '../../../lib/audit/trail/head.ts'
import { type ChainName, keyOf, type Link, seal } from '../../../lib/audit/trail/sealed.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { auditParts, revisions, scan, signal, stored, testSigner } from '../memory.ts'
import { faultsOf, hour, recordEvidence, verify } from './evidence.ts'

const { objects: evidence, heads, now, online, tampered } = await recordEvidence()
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
    for (const options of [undefined, online, { trustedKeyIds: keyIds }]) {
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
      for (const options of [undefined, online]) expect((await faultsOf(objects, options)).join()).toContain('missing')
    },
  )

  it('finds a copy in which nothing is left, and a trail that is gone with its head', async () => {
    expect(await faultsOf(new Map())).toEqual(['nothing_found audit/'])
    expect(await faultsOf(new Map(), { head: async () => newHead().heads, now })).toEqual(['nothing_found audit/'])
    expect((await faultsOf(new Map(), online)).length).toBeGreaterThan(0)
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

  it.each<[ChainName, number, number]>([
    ['entries', 2, 3],
    ['entries', 1, 5],
    ['digests', 1, 2],
    ['digests', 2, 3],
  ])('names %s %i and %i that changed places, and nothing else', async (chain, a, b) => {
    const [first, second] = [keyOf(chain, a), keyOf(chain, b)]
    const objects = tampered((it) => it.set(first, evidence.get(second)!).set(second, evidence.get(first)!))
    const faults = [`misplaced ${first}`, `misplaced ${second}`]
    expect((await faultsOf(objects, online)).sort()).toEqual(faults)
    // In a copy, nothing vouches for what comes after the last digest in its place.
    const inCopy = (await faultsOf(objects)).filter((fault) => !fault.startsWith('unsigned '))
    expect(inCopy.sort()).toEqual(faults)
  })

  it('names what lies in the place of another, and where it belongs', async () => {
    const elsewhere = tampered((it) => it.set(keyOf('findings', 1), evidence.get(entry(1))!))
    expect((await verify(elsewhere)).faults).toEqual([
      { kind: 'misplaced', place: keyOf('findings', 1), message: `holds ${entry(1)}` },
    ])
    const repeated = tampered((it) => it.set(entry(4), evidence.get(entry(3))!))
    expect(await faultsOf(repeated)).toEqual([`misplaced ${entry(4)}`])
  })

  it('places what was added: an entry after the last, and a file of another name', async () => {
    const sixth = seal({ ...JSON.parse('{"revision":6}'), version: 1, sequence: 6, previousHash: heads.entries.hash })
    const longer = tampered((it) => it.set(entry(6), sixth.bytes))
    expect(await faultsOf(longer)).toEqual([`unsigned ${entry(6)}`])
    expect(await faultsOf(longer, online)).toEqual([`unexpected ${entry(6)}`])
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
    const faults = await faultsOf(objects, { ...online, head: async () => ({ ...heads, entries: second }) })
    expect(faults).toContain(`missing ${entry(3)} to ${entry(5)}`)
  })

  it('finds that all was set back to an earlier day, by the digest that is then overdue', async () => {
    const objects = tampered((it) => {
      for (const sequence of [3, 4, 5]) it.delete(entry(sequence))
      for (const sequence of [2, 3]) it.delete(keyOf('digests', sequence)) && it.delete(signatureKeyOf(sequence))
      it.delete(keyOf('findings', 1))
    })
    expect(await faultsOf(objects, { now })).toEqual([`digest_missing ${keyOf('digests', 1)}`])
    expect((await faultsOf(objects, online)).join()).toContain('missing audit/digests/0000000002.json')
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
        expect((await verify(objects, online)).faults).not.toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})

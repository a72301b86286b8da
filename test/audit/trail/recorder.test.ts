import { describe, expect, it } from 'vitest'
import { keyOf } from '../../../lib/audit/trail/sealed.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { canonicalJson } from '../../../lib/core/canonical-json.ts'
import { contentHash } from '../../../lib/core/hash.ts'
import { type Json, parseJson } from '../../../lib/core/json.ts'
import { auditParts, revision, revisions, scan, seen, signal, stored } from '../memory.ts'

function verify({ store, head }: Pick<ReturnType<typeof auditParts>, 'store' | 'head'>) {
  return verifyTrail(store, { head: async () => (await head.read())!.state.heads })
}

describe('recording', () => {
  it('makes one chained entry per revision, with what the platform sent', async () => {
    const parts = auditParts()
    await parts.recorder.record([...revisions(2, 2), ...revisions(1, 1)], scan, signal)
    const [first, second] = stored(parts.store.objects, 'entries')
    expect(first).toMatchObject({ ...revision(1), sequence: 1, previousHash: '0'.repeat(64), version: 1 })
    expect(second).toMatchObject({ ...revision(2), sequence: 2, previousHash: first?.hash })
    expect(await verify(parts)).toMatchObject({ faults: [], entries: { checked: 2 }, unsignedEntries: 2 })
  })

  it('records nothing twice, in this process or in another', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 3), scan, signal)
    await parts.recorder.record(revisions(1, 4), scan, signal)
    await auditParts(parts).recorder.record(revisions(2, 5), scan, signal)
    expect(stored(parts.store.objects, 'entries').map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5])
  })

  it('knows what is recorded without reading entries, and by reading them when its index is lost or damaged', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 250), scan, signal)
    const reads: string[] = []
    const get = (key: string) => {
      reads.push(key)
      return parts.store.get(key)
    }
    const counting = { ...parts.store, get }
    await auditParts({ ...parts, store: counting }).recorder.record(revisions(1, 250), scan, signal)
    expect(reads).toEqual([])
    for (const damage of [
      () => parts.work.objects.clear(),
      () => parts.work.objects.set('index/audit/revisions.json.zst', Buffer.from('junk')),
    ]) {
      damage()
      await auditParts({ ...parts, store: counting }).recorder.record(revisions(1, 250), scan, signal)
      expect(reads.splice(0)).toHaveLength(250)
    }
    expect(parts.store.objects.size).toBe(250)
  })

  it('keeps fields that it does not know, and tells absent from null', async () => {
    const parts = auditParts()
    const record = parseJson('{"revision":1,"settings":{},"user":null,"approvedBy":{"id":"x"},"__proto__":{"a":1}}')
    await parts.recorder.record([{ hash: contentHash(record), record }], scan, signal)
    const [entry] = stored(parts.store.objects, 'entries')
    expect(canonicalJson(entry?.otherFields as Json)).toBe('{"__proto__":{"a":1},"approvedBy":{"id":"x"}}')
    expect(entry).toHaveProperty('user', null)
    expect(entry).not.toHaveProperty('updatedAt')
    parts.work.objects.clear()
    await auditParts(parts).recorder.record([{ hash: contentHash(record), record }], scan, signal)
    expect(stored(parts.store.objects, 'entries')).toHaveLength(1)
  })

  it('stores odd values so that they verify from the stored bytes (AUD-02)', async () => {
    const parts = auditParts()
    const record = parseJson(
      '{"revision":1,"settings":{"minus":-0,"big":1e21,"nfd":"e\\u0301","nfc":"\\u00e9","digits":1234567890123456789,' +
        '"tiny":5e-324,"half":"\\ud83d","\\ud83c":1,"":[]}}',
    )
    const other = { revision: 2, settings: { half: '\ud83c', gone: undefined } } as unknown as Json
    const records = [record, JSON.parse(JSON.stringify(other))].map((each) => ({
      hash: contentHash(each),
      record: each,
    }))
    await parts.recorder.record(records, scan, signal)
    expect((await verify(parts)).faults).toEqual([])
    const text = Buffer.from(parts.store.objects.get(keyOf('entries', 1)) as Uint8Array).toString()
    for (const part of [
      '"minus":0',
      '"big":1e+21',
      '"digits":1234567890123456789',
      '"nfd":"e\u0301"',
      '"half":"\\ud83d"',
    ]) {
      expect(text).toContain(part)
    }
    await auditParts({ ...parts, work: undefined }).recorder.record(records, scan, signal)
    expect(parts.store.objects.size).toBe(2)
  })

  it('records revisions that are larger than the head can hold', async () => {
    const parts = auditParts()
    const noise = Array.from({ length: 60_000 }, () => Math.random())
    await parts.recorder.record(
      [seen(revision(1, { noise })), seen(revision(2, { noise: noise.toReversed() }))],
      scan,
      signal,
    )
    expect((await verify(parts)).entries.checked).toBe(2)
    expect([...parts.work.objects.keys()]).toEqual(['index/audit/revisions.json.zst'])
  })

  it('passes over what has no revision number', async () => {
    const parts = auditParts()
    const numberless: Json[] = [{ revision: 'one' }, { revision: 1.5 }, { revision: 1e300 }, {}, null, [1], 'text', 7]
    const records = numberless.map((record) => ({ hash: 'x', record }))
    await parts.recorder.record([...records, ...revisions(1, 1)], scan, signal)
    expect(parts.store.objects.size).toBe(1)
  })

  it('takes a number that came as text for the number', async () => {
    const parts = auditParts()
    const [one] = revisions(1, 1)
    const asText = { ...one!, record: { ...(one!.record as object), revision: '1' } as Json }
    await parts.recorder.record([asText], scan, signal)
    await parts.recorder.record([one!], scan, signal)
    expect(parts.store.objects.size).toBe(1)
  })

  it('stops when the lease has run out', async () => {
    const parts = auditParts()
    const aborted = AbortSignal.abort(new Error('lease'))
    await expect(parts.recorder.record(revisions(1, 1), scan, aborted)).rejects.toThrow('lease')
    expect(parts.store.objects.size).toBe(0)
  })
})

import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { ScanSummary } from '../../../lib/sync/checkpoint.ts'
import type { IndexStore, PartPath } from '../../../lib/sync/ports.ts'
import { pathOf, summaryOf, untroubled } from '../samples.ts'

/** What every implementation of the index store keeps. */
export function indexStoreContract(title: string, create: () => IndexStore): void {
  const setup = () => {
    const store = create()
    const stream = `stream_${crypto.randomUUID()}`
    const path = (values: Partial<PartPath> = {}) => pathOf({ stream, ...values })
    const forget = async (scans: readonly ScanSummary[]) => store.remove(await store.objectsOf(scans))
    return { store, stream, path, forget }
  }
  const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => i % 251)

  describe(`the index store ${title}`, () => {
    it('gives back parts, indexes and lists of files as they were written', async () => {
      const { store, path } = setup()
      await store.writePart(path({ part: 1 }), bytes, untroubled)
      await store.writePart(path({ part: 2 }), new Uint8Array(), untroubled)
      expect(Buffer.from((await store.readPart(path({ part: 1 })))!).equals(bytes)).toBe(true)
      expect(await store.readPart(path({ part: 2 }))).toHaveLength(0)
      expect(await store.readPart(path({ part: 1, fence: 2 }))).toBeNull()

      const key = store.indexKey(path())
      expect([await store.readIndex(key), await store.openIndex(key)]).toEqual([null, null])
      await store.writeIndex(key, [bytes], untroubled)
      expect(Buffer.from((await store.readIndex(key))!).equals(bytes)).toBe(true)
      expect((await buffer((await store.openIndex(key))!)).equals(bytes)).toBe(true)
      expect(store.indexKey(path({ fence: 2 }))).not.toBe(key)

      const file = {
        kind: 'changes' as const,
        table: 't',
        key: 'k',
        rows: 1,
        bytes: 2,
        sha256: 's',
        schemaVersion: 'v',
      }
      const filesKey = await store.writeFiles(path(), [file], untroubled)
      expect(await store.readFiles(filesKey)).toEqual([file])
      expect(await store.readFiles(`${filesKey}x`)).toBeNull()
    })

    it('writes nothing once the lease ran out', async () => {
      const { store, path } = setup()
      await expect(store.writePart(path(), bytes, AbortSignal.abort())).rejects.toMatchObject({ code: 'lease_lost' })
      expect(await store.readPart(path())).toBeNull()
    })

    it("lists a stream's parts, those of dead attempts too, and nothing else", async () => {
      const { store, stream, path } = setup()
      expect(await store.listParts(stream)).toEqual([])
      const written = [
        { scanId: 'run-1-2', part: 0, fence: 2 },
        { scanId: 'run-1-2', part: 1, fence: 2 },
        { scanId: 'run-1-2', part: 1, fence: 3 },
        { scanId: '2026-03-01T00-00-00Z-40', part: 123_456, fence: 40 },
      ]
      for (const at of written) await store.writePart(path(at), bytes.subarray(at.fence), untroubled)
      await store.writePart(path({ stream: `${stream}_runs` }), bytes, untroubled)
      await store.writeIndex(store.indexKey(path()), [bytes], untroubled)
      await store.writeFiles(path(), [], untroubled)

      const listed = await store.listParts(stream)
      const inOrder = listed.map(({ key: _, ...part }) => part).sort((a, b) => a.fence - b.fence || a.part - b.part)
      expect(inOrder).toEqual(written)
      for (const { key, ...part } of listed)
        expect(await store.readIndex(key)).toEqual(await store.readPart(path(part)))
    })

    it('forgets a published scan with the index it replaced, and leaves every other scan alone', async () => {
      const { store, stream, path, forget } = setup()
      const indexes = [
        path({ scanId: 'scan-1' }),
        path({ scanId: 'scan-2', fence: 2 }),
        path({ scanId: 'scan-2', fence: 3 }),
        path({ scanId: 'scan-20', fence: 4 }),
        path({ scanId: 'scan-unnamed', fence: 2 }),
      ].map((at) => store.indexKey(at))
      for (const key of indexes) await store.writeIndex(key, [bytes], untroubled)
      const [replaced = '', dead = '', current = '', completing = '', unnamed = ''] = indexes
      await store.writePart(path({ scanId: 'scan-2', fence: 2 }), bytes, untroubled)
      await store.writePart(path({ scanId: 'scan-20', fence: 4 }), bytes, untroubled)
      const filesKey = await store.writeFiles(path({ scanId: 'scan-2', fence: 3 }), [], untroubled)

      const scan = summaryOf({ stream, scanId: 'scan-2', filesKey, indexKey: current, replacedIndexKey: replaced })
      await forget([scan])
      await forget([scan])
      const left = await Promise.all([replaced, dead, current, completing, unnamed].map(store.readIndex))
      expect(left.map((index) => index !== null)).toEqual([false, false, true, true, false])
      expect(await store.readPart(path({ scanId: 'scan-2', fence: 2 }))).toBeNull()
      expect(await store.readFiles(filesKey)).toBeNull()
      expect(await store.readPart(path({ scanId: 'scan-20', fence: 4 }))).not.toBeNull()
    })

    it('forgets published scans of shards, and leaves the shards between them alone', async () => {
      const { store, stream, path, forget } = setup()
      const shards = ['01', '02', '03'].map((n) => path({ stream: `${stream}/${n}`, scanId: `scan-${n}`, fence: 2 }))
      for (const at of shards) {
        await store.writePart(at, bytes, untroubled)
        await store.writeIndex(store.indexKey(at), [bytes], untroubled)
        await store.writeIndex(store.indexKey({ ...at, scanId: 'dead' }), [bytes], untroubled)
      }
      const published = shards.filter(({ scanId }) => scanId !== 'scan-02')
      const fences = { first: 1, last: 2 }
      await forget(published.map((at) => summaryOf({ ...at, fences, indexKey: store.indexKey(at) })))
      const left = async (key: string) => (await store.readIndex(key)) !== null
      for (const at of shards) {
        const isLeft = !published.includes(at)
        expect(await left(store.indexKey(at))).toBe(true)
        expect(await left(store.indexKey({ ...at, scanId: 'dead' }))).toBe(isLeft)
        expect((await store.readPart(at)) !== null).toBe(isLeft)
      }
    })

    it('removes the index that a later scan of the same publication replaced', async () => {
      const { store, stream, path, forget } = setup()
      const [first = '', second = ''] = [1, 2].map((fence) => store.indexKey(path({ scanId: `scan-${fence}`, fence })))
      for (const key of [first, second]) await store.writeIndex(key, [bytes], untroubled)
      const scan = { stream, replacedIndexKey: null }
      await forget([
        summaryOf({ ...scan, scanId: 'scan-1', indexKey: first, fences: { first: 1, last: 1 } }),
        summaryOf({
          stream,
          scanId: 'scan-2',
          indexKey: second,
          replacedIndexKey: first,
          fences: { first: 2, last: 2 },
        }),
      ])
      expect([await store.readIndex(first), (await store.readIndex(second)) !== null]).toEqual([null, true])
    })

    it('gives many readers in a row the same, and another object to whoever asks for another', async () => {
      const { store, path } = setup()
      const [one = '', other = '', none = ''] = [1, 2, 3].map((fence) => store.indexKey(path({ fence })))
      await store.writeIndex(one, [bytes], untroubled)
      await store.writeIndex(other, [bytes.subarray(1)], untroubled)
      const read = await Promise.all([one, one, other, one, none].map(store.readShared))
      expect(read.map((found) => found?.byteLength ?? null)).toEqual([10_000, 10_000, 9_999, 10_000, null])
      await store.writeIndex(none, [bytes], untroubled)
      expect(await store.readShared(none)).toHaveLength(10_000)
    })
  })
}

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { CurrentRecord, Records } from '../../../lib/sync/ports.ts'
import { untroubled } from '../samples.ts'

async function all(keys: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const key of keys) found.push(key)
  return found
}

/** What every implementation of current records keeps. */
export function recordsContract(title: string, create: () => Records): void {
  const setup = () => {
    const records = create()
    const stream = `stream_${randomUUID()}`
    const put = (changed: CurrentRecord[], changedAt: number, mayExist = true) =>
      records.put({ stream, records: changed, changedAt, mayExist, signal: untroubled })
    const tombstone = (keys: string[], deletedAt: number) =>
      records.tombstone({ stream, keys, deletedAt, signal: untroubled })
    return { records, stream, put, tombstone, get: (key: string) => records.get(stream, key) }
  }
  const record = (key: string, version = 1): CurrentRecord => ({ key, hash: `h${version}`, body: `{"v":${version}}` })

  describe(`current records ${title}`, () => {
    it('keeps when a record was first seen, and takes its newest content', async () => {
      const { put, get } = setup()
      await put([record('a'), record('b')], 100, false)
      await put([record('a', 2), record('c')], 200)
      expect(await get('a')).toEqual({ ...record('a', 2), firstSeenAt: 100, changedAt: 200, deletedAt: null })
      expect(await get('b')).toEqual({ ...record('b'), firstSeenAt: 100, changedAt: 100, deletedAt: null })
      expect(await get('c')).toEqual({ ...record('c'), firstSeenAt: 200, changedAt: 200, deletedAt: null })
      expect(await get('d')).toBeNull()
    })

    it('gives the bodies of many records, and of a large one, by key, and nothing for those that are not there', async () => {
      const { records, stream, put } = setup()
      const many = Array.from({ length: 130 }, (_, i) => record(`k${i}`))
      const large = { ...record('large'), body: JSON.stringify('x'.repeat(400_000)) }
      await put([...many, large], 1, false)
      const keys = [...many.map(({ key }) => key), 'large', 'none']
      const found = await records.bodies({ stream, keys, signal: untroubled })
      expect([found.size, found.get('k129'), found.get('large')]).toEqual([131, '{"v":1}', large.body])
    })

    it('writes each of many records, the last of two with one key (DDB-02)', async () => {
      const { put, get } = setup()
      const many = Array.from({ length: 260 }, (_, i) => record(`k${i}`))
      await put([...many, record('k7', 2)], 1, false)
      expect((await get('k7'))?.hash).toBe('h2')
      await put([...many.map(({ key }) => record(key, 3)), record('k8', 4)], 2)
      for (const key of ['k0', 'k99', 'k100', 'k259']) {
        expect(await get(key)).toMatchObject({ hash: 'h3', firstSeenAt: 1, changedAt: 2 })
      }
      expect(await get('k8')).toMatchObject({ hash: 'h4', firstSeenAt: 1 })
    })

    it('says the same after the same write twice', async () => {
      const { put, tombstone, get } = setup()
      await put([record('a')], 1, false)
      await put([record('a')], 1, false)
      await tombstone(['a'], 5)
      await tombstone(['a', 'a'], 6)
      expect(await get('a')).toEqual({ ...record('a'), firstSeenAt: 1, changedAt: 1, deletedAt: 5 })
    })

    it('brings a deleted record back to life with the date it was first seen', async () => {
      const { put, tombstone, get } = setup()
      await put([record('a')], 1, false)
      await tombstone(['a'], 2)
      await put([record('a', 2)], 3)
      expect(await get('a')).toEqual({ ...record('a', 2), firstSeenAt: 1, changedAt: 3, deletedAt: null })
    })

    it('makes no record out of the deletion of an unknown one', async () => {
      const { tombstone, get } = setup()
      await tombstone(['never-seen'], 2)
      expect(await get('never-seen')).toBeNull()
    })

    it('tells keys apart that look like one another', async () => {
      const { put, get } = setup()
      await put([record('a#b'), record('A#B', 2), record('é', 3), record('e\u0301', 4)], 1, false)
      expect((await get('a#b'))?.hash).toBe('h1')
      expect((await get('A#B'))?.hash).toBe('h2')
      expect((await get('é'))?.hash).toBe('h3')
      expect((await get('e\u0301'))?.hash).toBe('h4')
    })

    it('keeps bodies and keys that are larger than an item or a key may be (DDB-05)', async () => {
      const { put, get } = setup()
      const large = { key: 'large', hash: 'hl', body: JSON.stringify({ notes: 'é'.repeat(300_000) }) }
      const longKey = { ...record('x'), key: 'ü'.repeat(1500) }
      const neighbours = Array.from({ length: 24 }, (_, i) => record(`n${i}`))
      await put([...neighbours, large, longKey], 1, false)
      expect(await get('large')).toMatchObject(large)
      expect(await get(longKey.key)).toMatchObject(longKey)
      expect(await get('n23')).toMatchObject(record('n23'))
    })

    it('keeps digits that a double would round (JSON-01)', async () => {
      const { put, get } = setup()
      const exact = { key: 'n', hash: 'h', body: '{"id":9007199254740993,"n":1}' }
      await put([exact], 1, false)
      expect((await get('n'))?.body).toBe(exact.body)
    })

    it('lists the keys of what lives, of one stream and in as many pages as it takes (DDB-09)', async () => {
      const { records, stream, put, tombstone } = setup()
      const keys = Array.from({ length: 100 }, (_, i) => `k${i}`)
      const body = JSON.stringify({ notes: 'x'.repeat(100_000) })
      await put(
        [...keys, 'a#b', 'gone'].map((key) => ({ key, hash: 'h', body })),
        1,
        false,
      )
      await tombstone(['gone'], 2)
      for (const other of [`${stream}_runs`, stream.slice(0, -1), `x${stream}`]) {
        await records.put({ stream: other, records: [record('b')], changedAt: 1, mayExist: false, signal: untroubled })
      }
      expect((await all(records.keys(stream, untroubled))).sort()).toEqual([...keys, 'a#b'].sort())
      expect(await all(records.keys('never_read', untroubled))).toEqual([])
    })

    it('writes nothing once the lease ran out', async () => {
      const { records, stream, get } = setup()
      const change = { stream, signal: AbortSignal.abort() }
      const lost = { code: 'lease_lost', action: 'stop' }
      const put = records.put({ ...change, records: [record('a')], changedAt: 1, mayExist: false })
      await expect(put).rejects.toMatchObject(lost)
      await expect(records.tombstone({ ...change, keys: ['a'], deletedAt: 1 })).rejects.toMatchObject(lost)
      expect(await get('a')).toBeNull()
      await expect(all(records.keys(stream, AbortSignal.abort()))).rejects.toMatchObject(lost)
    })
  })
}

import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { RetryableError } from '../../lib/core/errors.ts'
import { createIndexStore } from '../../lib/stores/index-store.ts'
import { createMemoryIndexStore } from '../support/memory/index-store.ts'
import { streamsOver } from '../support/memory/object-streams.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { indexStoreContract } from './contracts/index-store.ts'
import { useEmulators } from './emulated.ts'
import { pathOf, untroubled } from './samples.ts'

const emulated = useEmulators()
indexStoreContract('in memory', createMemoryIndexStore)
indexStoreContract('in S3', () => createIndexStore(emulated().lake, emulated().lakeStreams))

describe('an index in S3', () => {
  it('that is cut off is an error, never a shorter index', async () => {
    const objects = createMemoryObjects()
    const store = createIndexStore(objects, streamsOver(objects))
    const key = store.indexKey(pathOf())
    await store.writeIndex(key, [new Uint8Array(100_000)], untroubled)
    await objects.put(key, (await objects.get(key))!.slice(0, 12))
    await expect(store.readIndex(key)).rejects.toMatchObject({ code: 'damaged_state' })
    const chunks = (await store.openIndex(key))!
    await expect(buffer(chunks)).rejects.toMatchObject({ code: 'damaged_state' })
  })

  it('that breaks off on the way is trouble of storage, and not damaged', async () => {
    const objects = createMemoryObjects()
    const away = async function* () {
      yield zstdCompressSync(randomBytes(5_000)).subarray(0, 2_000)
      throw new RetryableError('the network is away', { code: 'storage_unavailable' })
    }
    const store = createIndexStore(objects, { ...streamsOver(objects), read: async () => away() })
    const chunks = (await store.openIndex('any'))!
    await expect(buffer(chunks)).rejects.toMatchObject({ code: 'storage_unavailable' })
  })

  it('comes back whole however large it is', async () => {
    const { lake, lakeStreams } = emulated()
    const store = createIndexStore(lake, lakeStreams)
    const key = store.indexKey(pathOf({ scanId: 'large' }))
    const pieces = Array.from({ length: 40 }, () => randomBytes(256 * 1024))
    await store.writeIndex(key, pieces, untroubled)
    const back = await buffer((await store.openIndex(key))!)
    expect(back.equals(Buffer.concat(pieces))).toBe(true)
  })
})

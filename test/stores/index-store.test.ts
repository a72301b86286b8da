import { describe, expect, it } from 'vitest'
import { createIndexStore } from '../../lib/stores/index-store.ts'
import { createMemoryIndexStore } from '../support/memory/index-store.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { indexStoreContract } from './contracts/index-store.ts'
import { useEmulators } from './emulated.ts'
import { pathOf, untroubled } from './samples.ts'

const emulated = useEmulators()
indexStoreContract('in memory', createMemoryIndexStore)
indexStoreContract('in S3', () => createIndexStore(emulated().lake))

describe('an index in S3', () => {
  it('that is cut off is an error, never a shorter index', async () => {
    const objects = createMemoryObjects()
    const store = createIndexStore(objects)
    const key = store.indexKey(pathOf())
    await store.writeIndex(key, new Uint8Array(100_000), untroubled)
    await objects.put(key, (await objects.get(key))!.slice(0, 12))
    await expect(store.readIndex(key)).rejects.toMatchObject({ code: 'damaged_state' })
  })
})

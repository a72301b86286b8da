import { expect, it } from 'vitest'
import type { MergedParts } from '../../../lib/publish/ports.ts'
import type { PartFile } from '../../../lib/sync/checkpoint.ts'
import type { createMemoryObjects } from '../../support/memory/objects.ts'

/** What merges parts, in objects of its own: each name is a record of a part. */
export type MergingSetup = {
  objects: ReturnType<typeof createMemoryObjects>
  part(names: string[], n: number): Promise<PartFile>
  merge(parts: PartFile[]): Promise<MergedParts>
}

/** What holds for every file that parts become, whatever it holds. */
export function mergedFileContract(setup: () => MergingSetup): void {
  it('is the same whoever writes it', async () => {
    const { part, merge } = setup()
    const parts = [await part(['b'], 0), await part(['a'], 1)]
    expect(await merge(parts)).toEqual(await merge(parts))
  })

  it('is not made of what is gone or damaged', async () => {
    const { objects, part, merge } = setup()
    const [gone, damaged] = [await part(['a'], 0), await part(['b'], 1)]
    await objects.remove([gone.key])
    await expect(merge([gone])).rejects.toMatchObject({ code: 'damaged_state' })
    for (const bytes of [
      'no',
      '',
      'APR1 and as many bytes as ever one may like'.padEnd(damaged.bytes).slice(0, damaged.bytes),
    ]) {
      await objects.put(damaged.key, Buffer.from(bytes))
      await expect(merge([damaged])).rejects.toMatchObject({ code: 'damaged_state' })
    }
  })
}

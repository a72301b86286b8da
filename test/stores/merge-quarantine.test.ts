import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../lib/core/hash.ts'
import { createQuarantineMerger } from '../../lib/stores/merge-quarantine.ts'
import { createPublishingLake } from '../../lib/stores/publishing-lake.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { mergedFileContract } from './contracts/merged-file.ts'
import { pathOf, undisturbed, untroubled } from './samples.ts'

function setup(unpackedBytes?: number) {
  const objects = createMemoryObjects()
  const lake = createPublishingLake(objects)
  const part = (raws: string[], n: number) =>
    lake.writeQuarantine(
      pathOf({ part: n }),
      raws.map((raw) => ({ key: null, reasons: ['has no key'], raw })),
      untroubled,
    )
  const rawsIn = async (key: string) => {
    const lines = gunzipSync((await objects.get(key))!)
      .toString()
      .trimEnd()
      .split('\n')
    return lines.map((line) => JSON.parse(line).raw)
  }
  const { mergeQuarantine } = createQuarantineMerger(objects, unpackedBytes)
  return {
    objects,
    part,
    rawsIn,
    merge: (parts: Parameters<typeof mergeQuarantine>[0]) => mergeQuarantine(parts, undisturbed),
  }
}

describe('a quarantine file that was merged of parts', () => {
  it('holds all records of all parts, in their order, and is what it says', async () => {
    const { objects, part, rawsIn, merge } = setup()
    const parts = [await part(['"a"', '"b"'], 0), await part(['"c"'], 1)]
    const { files, taken } = await merge(parts)
    const file = files[0]!
    expect([taken, files.length]).toEqual([2, 1])
    expect(file).toMatchObject({ kind: 'quarantine', table: parts[0]!.table, rows: 3 })
    expect(file.key).toMatch(/^quarantine\/.*\.ndjson\.gz$/)
    const bytes = (await objects.get(file.key))!
    expect([file.bytes, file.sha256]).toEqual([bytes.byteLength, sha256(bytes)])
    expect(await rawsIn(file.key)).toEqual(['"a"', '"b"', '"c"'])
  })

  it('takes no more bytes of lines than fit, and at least one part', async () => {
    const { part, rawsIn, merge } = setup(1)
    const parts = [await part(['"a"'], 0), await part(['"b"'], 1)]
    const first = await merge(parts)
    const second = await merge(parts.slice(1))
    expect([first.taken, second.taken]).toEqual([1, 1])
    expect([await rawsIn(first.files[0]!.key), await rawsIn(second.files[0]!.key)]).toEqual([['"a"'], ['"b"']])
  })

  it('has lines of one form: parts that another version wrote become a file of their own', async () => {
    const { part, merge } = setup()
    const [older, newer] = [await part(['"a"'], 0), await part(['"b"'], 1)]
    const { files, taken } = await merge([{ ...older, schemaVersion: '1' }, newer])
    expect([taken, files[0]?.schemaVersion]).toEqual([1, '1'])
  })

  mergedFileContract(setup)
})

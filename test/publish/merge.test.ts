import { describe, expect, it } from 'vitest'
import type { Merged } from '../../lib/publish/manifest.ts'
import { mergeScans } from '../../lib/publish/merge.ts'
import { isOfAttempt } from '../../lib/stores/lake-paths.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { columnsOf } from '../../lib/streams/table.ts'
import type { PartFile } from '../../lib/sync/checkpoint.ts'
import { watchLease } from '../../lib/sync/lease.ts'
import { pathOf, untroubled } from '../stores/samples.ts'
import { createMemoryLake, type MemoryLake } from '../support/memory/lake.ts'
import { manualClock } from '../sync/support/clock.ts'

const [main, tags] = sessions.tables

function setup(lake: MemoryLake = createMemoryLake()) {
  const clock = manualClock()
  const lease = watchLease(clock, { owner: 'me', expiresAt: clock.now() + 60_000, ttlMs: 60_000 })
  const noted: Record<string, Merged>[] = []
  const merging = {
    ...{ lake, signal: lease.signal, streams: [sessions] },
    note: (merged: Record<string, Merged>) => void noted.push(structuredClone(merged)),
    stillMine: async () => lease.signal.throwIfAborted(),
  }
  const merge = (scans: PartFile[][], before: Record<string, Merged> = {}) => mergeScans(scans, { ...merging, before })
  return { lake, merge, noted }
}

/** A part with these keys, in the folder of a run. */
function part(lake: MemoryLake, keys: string[], { runId = 'run-1', n = 0, table = main, fence = 1 } = {}) {
  const columns = columnsOf(table).map(({ name }) => (name === 'session_id' ? keys : keys.map(() => null)))
  return lake.writeRows(pathOf({ runId, part: n, fence }), { table, columns, rows: keys.length }, untroubled)
}

function quarantined(lake: MemoryLake, raw: string, n: number) {
  return lake.writeQuarantine(pathOf({ part: n }), [{ key: null, reasons: ['x'], raw }], untroubled)
}

function keysIn(lake: MemoryLake, { key }: PartFile) {
  const file = lake.files.get(key)
  return file && 'rows' in file ? file.rows.map((row) => row.session_id) : []
}

describe('merging', () => {
  it('makes one file of each table in a folder, sorted by key, whatever scans its rows come from (LAKE-06)', async () => {
    const { lake, merge } = setup()
    const shards = await Promise.all(
      Array.from({ length: 64 }, (_, fence) => part(lake, [`s${99 - fence}`, `s${10 + (fence % 5)}`], { fence })),
    )
    const other = await part(lake, ['s1'], { table: tags! })
    const files = await merge([...shards.slice(0, 63).map((file) => [file]), [shards[63]!, other]])
    expect(files.map(({ length }) => length)).toEqual([1, ...Array(62).fill(0), 1])
    const keys = keysIn(lake, files[0]![0]!)
    expect(keys).toHaveLength(128)
    expect(keys).toEqual(keys.toSorted())
    expect(files[63]).toMatchObject([{ table: 'session_tags', rows: 1 }])
  })

  it('keeps the folders of two runs apart, since each is a partition of its own', async () => {
    const { lake, merge } = setup()
    const one = await part(lake, ['a'], { runId: 'run-1' })
    const two = await part(lake, ['b'], { runId: 'run-2' })
    const [first, second] = await merge([[one], [two]])
    expect(first?.[0]?.key).toContain('/run=run-1/')
    expect(second?.[0]?.key).toContain('/run=run-2/')
  })

  it('makes one file of what was quarantined in all flushes of a folder, whatever scans it comes from', async () => {
    const { lake, merge } = setup()
    const parts = await Promise.all(['1', '2', '3'].map((raw, n) => quarantined(lake, raw, n)))
    const [first, second] = await merge([parts.slice(0, 2), parts.slice(2)])
    expect(first).toMatchObject([{ kind: 'quarantine', table: 'sessions', rows: 3 }])
    expect(second).toEqual([])
    expect(lake.files.get(first![0]!.key)).toMatchObject({ records: [{ raw: '1' }, { raw: '2' }, { raw: '3' }] })
  })

  it('gives one part alone a name that no attempt has, so that nobody takes it for a leftover', async () => {
    const { lake, merge } = setup()
    const parts = [await part(lake, ['a']), await quarantined(lake, '1', 0)]
    const scan = { ...pathOf(), fences: { first: 1, last: 1 } }
    const [files] = await merge([parts])
    const isLeftover = ({ key }: PartFile) => isOfAttempt(key, scan)
    expect([parts.map(isLeftover), files!.map(isLeftover)]).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('leaves alone a table that is no longer declared', async () => {
    const { lake, merge } = setup()
    const gone = { ...(await part(lake, ['a'])), table: 'gone' }
    expect(await merge([[gone]])).toEqual([[gone]])
  })

  it('says the same when it is repeated', async () => {
    const { lake, merge } = setup()
    const parts = [await part(lake, ['b']), await part(lake, ['a'], { n: 1 })]
    expect(await merge([parts])).toEqual(await merge([parts]))
  })

  it('takes down what is done, and goes on from there after a death', async () => {
    const lake = createMemoryLake({ partsPerFile: 1 })
    const { merge, noted } = setup(lake)
    const parts = await Promise.all(['c', 'b', 'a'].map((key, n) => part(lake, [key], { n })))
    const [whole] = await merge([parts])
    expect(whole).toHaveLength(3)
    expect(noted.map((merged) => Object.values(merged)[0]?.parts)).toEqual([1, 2, 3])
    const { mergeParts } = lake
    lake.mergeParts = (table, left, publishing) => {
      expect(left).toHaveLength(1)
      return mergeParts(table, left, publishing)
    }
    expect(await merge([parts], noted[1])).toEqual([whole])
  })
})

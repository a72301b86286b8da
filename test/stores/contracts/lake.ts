import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../../lib/publish/manifest.ts'
import type { Manifests } from '../../../lib/publish/ports.ts'
import { computers } from '../../../lib/streams/computers.ts'
import { columnsOf, type Table } from '../../../lib/streams/table.ts'
import type { Lake, PartPath, RowBatch } from '../../../lib/sync/ports.ts'
import { pathOf, summaryOf, untroubled } from '../samples.ts'

const table: Table = computers.tables[0]

function batch(rows: number): RowBatch {
  return {
    table,
    columns: columnsOf(table).map(({ name }) => Array.from({ length: rows }, () => (name === '_op' ? 'upsert' : null))),
    rows,
  }
}

/** What every implementation of the lake keeps. */
export function lakeContract(title: string, create: () => Lake & Manifests): void {
  // A run of its own per test: the bucket is shared.
  const setup = () => {
    const lake = create()
    const runId = `run-${crypto.randomUUID()}`
    const path = (values: Partial<PartPath>) => pathOf({ stream: 'computers', runId, ...values })
    const write = (values: Partial<PartPath>, rows = 2) => lake.writeRows(path(values), batch(rows), untroubled)
    const summary = (first: number, last: number) => summaryOf({ stream: 'computers', runId, fences: { first, last } })
    return { lake, runId, path, write, summary }
  }
  const manifestOf = (runId: string): Manifest => ({
    version: 1,
    runId,
    publishedAt: '2026-03-01T00:00:00Z',
    scans: [],
  })

  describe(`the lake ${title}`, () => {
    it('describes the file it wrote, so that a reader can load and verify it', async () => {
      const { write, path, lake } = setup()
      const file = await write({ part: 3, fence: 2 }, 4)
      expect(file).toMatchObject({ kind: 'changes', table: 'computers', rows: 4 })
      expect(file.key).toMatch(/^changes\/computers\/dt=2026-03-01\/run=run-[0-9a-f-]+\/00003-2\.rows$/)
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(file.bytes).toBeGreaterThan(0)
      const quarantine = await lake.writeQuarantine(path({}), [{ key: null, reasons: ['x'], raw: '1' }], untroubled)
      expect(quarantine).toMatchObject({ kind: 'quarantine', table: 'computers', rows: 1 })
    })

    it('says the same of the same part written twice (S3-01)', async () => {
      const { write } = setup()
      expect(await write({})).toEqual(await write({}))
    })

    it('writes nothing once the lease ran out', async () => {
      const { lake, path, summary } = setup()
      const lost = { code: 'lease_lost', action: 'stop' }
      await expect(lake.writeRows(path({}), batch(1), AbortSignal.abort())).rejects.toMatchObject(lost)
      await expect(lake.writeQuarantine(path({}), [], AbortSignal.abort())).rejects.toMatchObject(lost)
      expect(await lake.removeOrphans([summary(0, 99)], computers, [])).toBe(0)
    })

    it("removes what a scan's dead attempts left, and nothing of another scan of the run", async () => {
      const { lake, path, write, summary } = setup()
      const before = await write({ part: 1, fence: 3 })
      const dead = await write({ part: 1, fence: 4 })
      const kept = await write({ part: 1, fence: 5 })
      const after = await write({ part: 1, fence: 6 })
      await lake.writeQuarantine(path({ part: 1, fence: 4 }), [], untroubled)
      expect(await lake.removeOrphans([summary(4, 5)], computers, [kept])).toBe(2)
      expect(await lake.removeOrphans([summary(4, 5)], computers, [kept])).toBe(0)
      expect(await lake.removeOrphans([summary(3, 6)], computers, [before, kept, after])).toBe(0)
      expect(await lake.removeOrphans([summary(3, 6)], computers, [])).toBe(3)
      expect(dead.key).not.toBe(kept.key)
    })

    it('removes for shards, which share their folders, what their own dead attempts left', async () => {
      const { lake, write, runId } = setup()
      const shard = (n: string) => `computers/${n}`
      const kept = await write({ stream: shard('01'), fence: 2 })
      await write({ stream: shard('01'), fence: 1 })
      await write({ stream: shard('02'), fence: 1 })
      await write({ stream: shard('02'), fence: 3 })
      await write({ stream: shard('03'), fence: 1 })
      const scans = ['01', '02'].map((n) => summaryOf({ stream: shard(n), runId, fences: { first: 1, last: 2 } }))
      expect(await lake.removeOrphans(scans, computers, [kept])).toBe(2)
      expect(await lake.removeOrphans(scans, computers, [])).toBe(1)
      const third = summaryOf({ stream: shard('03'), runId, fences: { first: 1, last: 1 } })
      expect(await lake.removeOrphans([third], { ...computers, name: shard('03') }, [])).toBe(1)
    })

    it('gives a manifest back, and replaces it as a whole', async () => {
      const { lake, runId } = setup()
      expect(await lake.readManifest(runId)).toBeNull()
      await lake.writeManifest(manifestOf(runId), untroubled)
      await lake.pointLatest(manifestOf(runId), untroubled)
      const { scanId, stream, status, reason, records, counts } = summaryOf()
      const times = { startedAt: '2026-03-01T00:00:00Z', completedAt: '2026-03-01T00:00:01Z' }
      const scan = { scanId, stream, status, reason, records, counts, ...times, files: [] }
      const next = { ...manifestOf(runId), scans: [scan] }
      await lake.writeManifest(next, untroubled)
      expect(await lake.readManifest(runId)).toEqual(next)
    })
  })
}

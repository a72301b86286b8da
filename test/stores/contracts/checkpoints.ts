import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Checkpoint, Counts, newCheckpoint } from '../../../lib/sync/checkpoint.ts'
import type { Checkpoints } from '../../../lib/sync/ports.ts'
import { scanOf, summaryOf } from '../samples.ts'

/** What every implementation of checkpoints keeps. */
export function checkpointsContract(title: string, create: () => Checkpoints): void {
  const setup = () => ({ checkpoints: create(), stream: `stream_${randomUUID()}` })
  // biome-ignore lint/complexity/useMaxParams: owner and time read better in a row
  const acquire = async (checkpoints: Checkpoints, stream: string, owner = 'a', now = 0): Promise<Checkpoint> => {
    const taken = await checkpoints.acquire(stream, { owner, now, expiresAt: now + 60 })
    if ('heldBy' in taken) throw new Error(`held by ${taken.heldBy}`)
    return taken.checkpoint
  }

  describe(`checkpoints ${title}`, () => {
    it('knows nothing of a stream that was never read', async () => {
      const { checkpoints, stream } = setup()
      expect(await checkpoints.read(stream)).toBeNull()
      expect(await checkpoints.unpublished(stream)).toEqual([])
      await checkpoints.markPublished(stream, 'scan-1')
      await checkpoints.reset(stream, { index: true, now: 0 })
    })

    it('gives back what was saved, with the fence of the next lease', async () => {
      const { checkpoints, stream } = setup()
      const first = await acquire(checkpoints, stream)
      const scan = {
        scanId: 's1',
        firstFence: 1,
        runId: 'r1',
        startedAt: 5,
        position: { at: 'page' as const, token: 'c9' },
        approval: false,
        pass: 1,
        restarts: { runId: 'r1', count: 0 },
        barrenPages: 0,
        unkeyed: 0,
        segments: [{ fence: 1, parts: 2 }],
        counts: Counts.parse({ received: 7 }),
      }
      const saved: Checkpoint = { ...first, status: 'paused', runId: 'r1', scan, index: { key: 'k', entries: 3 } }
      await checkpoints.save(saved, { owner: 'a', expiresAt: 60, release: true })
      expect(await checkpoints.read(stream)).toEqual(saved)
      expect(await acquire(checkpoints, stream, 'b', 1)).toEqual({ ...saved, fence: first.fence + 1 })
    })

    it('tells who takes a stream how much of it waits for publish, and since when', async () => {
      const { checkpoints, stream } = setup()
      const claim = { owner: 'a', now: 0, expiresAt: 60 }
      expect(await checkpoints.acquire(stream, claim)).toMatchObject({ waiting: { scans: 0, bytes: 0, since: null } })
      for (const [fence, completedAt] of [
        [1, 700],
        [2, 900],
      ] as const) {
        const summary = summaryOf({ stream, scanId: `scan-${fence}`, completedAt })
        await checkpoints.complete({ ...newCheckpoint(stream), fence }, claim, summary)
        await checkpoints.acquire(stream, claim)
      }
      const taken = await checkpoints.acquire(stream, { ...claim, owner: 'b', now: 60, expiresAt: 90 })
      expect(taken).toMatchObject({ waiting: { scans: 2, since: 700 } })
      const { bytes } = (taken as { waiting: { bytes: number } }).waiting
      const own = await checkpoints.unpublished(stream)
      expect(bytes).toBe(own.reduce((sum, scan) => sum + scan.scanId.length + JSON.stringify(scan).length, 0))
    })

    it('lets one of two workers have a stream, and names it to the other', async () => {
      const { checkpoints, stream } = setup()
      const claims = ['a', 'b'].map((owner) => checkpoints.acquire(stream, { owner, now: 0, expiresAt: 60 }))
      const [won, lost] = (await Promise.all(claims)).sort((one) => ('heldBy' in one ? 1 : -1))
      expect(won).toMatchObject({ checkpoint: { fence: 1 } })
      expect(lost).toMatchObject({ until: 60 })
    })

    it('has the worker that took the lease as the one that holds it when its request is sent twice', async () => {
      const { checkpoints, stream } = setup()
      const first = await acquire(checkpoints, stream)
      expect(await acquire(checkpoints, stream)).toEqual(first)
    })

    it('takes over an expired lease that is still there, by comparing times (DDB-07)', async () => {
      const { checkpoints, stream } = setup()
      await acquire(checkpoints, stream, 'a', 0)
      expect(await checkpoints.acquire(stream, { owner: 'b', now: 59, expiresAt: 120 })).toEqual({
        heldBy: 'a',
        until: 60,
      })
      expect((await acquire(checkpoints, stream, 'b', 60)).fence).toBe(2)
    })

    it('refuses the write of a worker that stalled past its lease, and keeps that of its successor (DDB-08)', async () => {
      const { checkpoints, stream } = setup()
      const stalled = await acquire(checkpoints, stream, 'a', 0)
      const current = await acquire(checkpoints, stream, 'b', 90)
      await checkpoints.save({ ...current, reason: 'page 9' }, { owner: 'b', expiresAt: 150 })
      for (const release of [false, true]) {
        const late = checkpoints.save({ ...stalled, reason: 'page 3' }, { owner: 'a', expiresAt: 200, release })
        await expect(late).rejects.toMatchObject({ code: 'lease_lost', action: 'stop' })
      }
      await expect(
        checkpoints.complete(stalled, { owner: 'a', expiresAt: 200 }, summaryOf({ stream })),
      ).rejects.toMatchObject({ code: 'lease_lost' })
      expect(await checkpoints.read(stream)).toMatchObject({ reason: 'page 9' })
      expect(await checkpoints.unpublished(stream)).toEqual([])
    })

    it('renews the lease with each save', async () => {
      const { checkpoints, stream } = setup()
      await checkpoints.save(await acquire(checkpoints, stream), { owner: 'a', expiresAt: 500 })
      expect(await checkpoints.acquire(stream, { owner: 'b', now: 499, expiresAt: 900 })).toEqual({
        heldBy: 'a',
        until: 500,
      })
    })

    it('takes a repeated release for what it is', async () => {
      const { checkpoints, stream } = setup()
      const checkpoint = await acquire(checkpoints, stream)
      const release = () =>
        checkpoints.save({ ...checkpoint, reason: 'done' }, { owner: 'a', expiresAt: 60, release: true })
      await release()
      await release()
      expect((await acquire(checkpoints, stream, 'b', 1)).reason).toBe('done')
    })

    it('gives the lease up with a completed scan, and remembers it until it is published, oldest first', async () => {
      const { checkpoints, stream } = setup()
      const scans = [2, 1, 3].map((n) => summaryOf({ stream, scanId: `scan.${n}`, startedAt: n, completedAt: n }))
      for (const lastScan of scans) {
        const complete = { ...(await acquire(checkpoints, stream, lastScan.scanId)), lastScan }
        const lease = { owner: lastScan.scanId, expiresAt: 60 }
        await checkpoints.complete(complete, lease, lastScan)
        await checkpoints.complete(complete, lease, lastScan)
      }
      await checkpoints.save(await acquire(checkpoints, stream), { owner: 'a', expiresAt: 60, release: true })
      expect((await checkpoints.unpublished(stream)).map(({ scanId }) => scanId)).toEqual([
        'scan.1',
        'scan.2',
        'scan.3',
      ])

      await checkpoints.markPublished(stream, 'scan.2')
      await checkpoints.markPublished(stream, 'scan.2')
      expect(await checkpoints.unpublished(stream)).toEqual([scans[1], scans[2]])
      const none = `${stream}_never_read`
      expect(await checkpoints.unpublishedOf([none, stream])).toEqual([scans[1], scans[2]])
      expect(await checkpoints.unpublishedOf([none])).toEqual([])
    })

    it('forgets what the scan in progress has read on reset, and the index only when asked to', async () => {
      const { checkpoints, stream } = setup()
      const scan = { ...scanOf('scan'), segments: [{ fence: 1, parts: 2 }] }
      const known = { scan, index: { key: 'k', entries: 1 }, scansCompleted: 4 }
      const checkpoint = { ...(await acquire(checkpoints, stream)), ...known }
      await checkpoints.save(checkpoint, { owner: 'a', expiresAt: 60, release: true })
      await checkpoints.reset(stream, { index: false, now: 1 })
      expect(await checkpoints.read(stream)).toMatchObject({
        scan: { scanId: 'scan', segments: [] },
        index: { key: 'k' },
        scansCompleted: 4,
      })
      await checkpoints.reset(stream, { index: true, now: 1 })
      expect(await checkpoints.read(stream)).toMatchObject({ index: null, scansCompleted: 4 })
    })

    it('refuses a reset while a worker holds the stream, and locks out one whose lease is over', async () => {
      const { checkpoints, stream } = setup()
      const checkpoint = await acquire(checkpoints, stream)
      await expect(checkpoints.reset(stream, { index: false, now: 59 })).rejects.toMatchObject({ code: 'usage' })
      await checkpoints.reset(stream, { index: false, now: 60 })
      await expect(checkpoints.save(checkpoint, { owner: 'a', expiresAt: 99 })).rejects.toMatchObject({
        code: 'lease_lost',
      })
    })
  })
}

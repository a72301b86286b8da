import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../lib/publish/manifest.ts'
import type { Publications, Runs } from '../../lib/publish/ports.ts'
import { createPublications } from '../../lib/stores/publications.ts'
import { createRuns } from '../../lib/stores/runs.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import { createMemoryPublications, createMemoryRuns } from '../support/memory/publications.ts'
import { useEmulators } from './emulated.ts'
import { summaryOf } from './samples.ts'

const emulated = useEmulators()
function deps() {
  return { dynamodb: emulated().dynamodb, table: emulated().stateTable }
}

const suites: [string, () => Publications, () => Runs][] = [
  ['in memory', createMemoryPublications, createMemoryRuns],
  ['in DynamoDB', () => createPublications(deps()), () => createRuns(deps())],
]

describe.each(suites)("the publisher's state %s", (_, publications, runs) => {
  it('goes from one publisher to the next with what the first was about to do, and locks the first out', async () => {
    const state = publications()
    const first = await state.acquire({ owner: 'a', now: 0, expiresAt: 60 })
    if ('heldBy' in first) throw new Error('held')
    expect(first.state).toEqual({ fence: 1, publishedAt: '', pending: null, behind: {} })
    const publishedAt = '2026-03-01T02:00:00.000Z'
    const behind = {
      sessions_current: { since: '2026-03-01T02:00:00.000Z', reason: null, triedAt: 5, progress: 'key' },
    }
    const merged = { 'changes/sessions/dt=2026-03-01/run=run-1': { files: [], parts: 3 } }
    const pending = { runId: 'run-1', scans: [summaryOf()], merged }
    await state.save({ fence: 1, publishedAt, pending, behind }, { owner: 'a', expiresAt: 60 })
    expect(await state.behind()).toEqual(behind)

    expect(await state.acquire({ owner: 'b', now: 59, expiresAt: 120 })).toEqual({ heldBy: 'a', until: 60 })
    expect(await state.acquire({ owner: 'b', now: 60, expiresAt: 120 })).toEqual({
      state: { fence: 2, publishedAt, pending, behind },
    })
    await expect(
      state.save({ fence: 1, publishedAt, pending: null, behind: {} }, { owner: 'a', expiresAt: 99 }),
    ).rejects.toMatchObject({
      code: 'lease_lost',
    })

    await state.save(
      { fence: 2, publishedAt, pending: null, behind: {} },
      { owner: 'b', expiresAt: 120, release: true },
    )
    await state.save(
      { fence: 2, publishedAt, pending: null, behind: {} },
      { owner: 'b', expiresAt: 120, release: true },
    )
    expect(await state.acquire({ owner: 'c', now: 61, expiresAt: 99 })).toEqual({
      state: { fence: 3, publishedAt, pending: null, behind: {} },
    })
    expect(await state.behind()).toEqual({})
  })

  it('shows the run that was scheduled last, as it was written last', async () => {
    const store = runs()
    expect(await store.latest()).toBeNull()
    const record = (runId: string, scheduledAt: number): RunRecord => ({
      runId,
      scheduledAt,
      finishedAt: scheduledAt + 5,
      status: 'partial',
      streams: [{ stream: 'sessions', status: 'failed', reason: 'x', counts: Counts.parse({}) }],
    })
    await store.write(record('b', Date.UTC(2026, 2, 2)))
    await store.write(record('a', Date.UTC(2026, 2, 1)))
    await store.write({ ...record('b', Date.UTC(2026, 2, 2)), status: 'complete' })
    expect(await store.latest()).toEqual({ ...record('b', Date.UTC(2026, 2, 2)), status: 'complete' })
    expect(await store.read({ runId: 'a', scheduledAt: Date.UTC(2026, 2, 1) })).toEqual(
      record('a', Date.UTC(2026, 2, 1)),
    )
    const ids = async (from: number, until: number) => (await store.between(from, until)).map(({ runId }) => runId)
    expect(await ids(Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 3))).toEqual(['a', 'b'])
    expect(await ids(Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 2))).toEqual(['a'])
    expect(await ids(Date.UTC(2026, 2, 1) + 1, Date.UTC(2026, 2, 3))).toEqual(['b'])
    const newest: string[] = []
    for await (const { runId } of store.newestFirst()) newest.push(runId)
    expect(newest).toEqual(['b', 'a'])
    expect(await store.read({ runId: 'c', scheduledAt: Date.UTC(2026, 2, 1) })).toBeNull()
  })
})

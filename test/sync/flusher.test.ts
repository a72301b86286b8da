import { describe, expect, it } from 'vitest'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { type Batch, emptyBuffer } from '../../lib/sync/batch.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import { createFlusher, type Progress } from '../../lib/sync/flusher.ts'
import { contextOf } from './support/context.ts'
import { user } from './support/source.ts'

const { name } = organizationUsers

function progressAt(token: string): Progress & { tokens: string[] } {
  return {
    reading: {
      position: { at: 'page', token },
      pass: 1,
      restarts: { runId: 'run', count: 0 },
      barrenPages: 0,
      pages: 1,
      apiCalls: 2,
    },
    taken: { counts: Counts.parse({ received: 1, inserted: 1 }), unkeyed: 0 },
    tokens: [],
  }
}

function batchOf(id: number): Batch {
  const record = user(id)
  const cells = organizationUsers.tables[0].columns.map(({ name }) => (name === 'id' ? `u${id}` : null))
  const change = {
    key: `u${id}`,
    hash: 'h',
    body: JSON.stringify(record),
    rows: [[{ cells, extra: null, invalid: null }]],
  }
  return { ...emptyBuffer(0), received: 1, changes: new Map([[change.key, change]]), seen: [], same: [] }
}

async function flusherOf(overrides: Parameters<typeof contextOf>[0] = {}) {
  const around = await contextOf(overrides)
  const { context, checkpoint } = around
  return { ...around, flusher: createFlusher(context, { checkpoint, segments: [], files: [] }) }
}

describe('the flusher', () => {
  it('names the scan in the checkpoint before anything of it is written', async () => {
    const { flusher, checkpoints, lake } = await flusherOf()
    flusher.announce(progressAt('p1'))
    await flusher.written()
    expect((await checkpoints.read(name))?.scan).toMatchObject({ scanId: 'run-1', segments: [] })
    expect(lake.files.size).toBe(0)
  })

  it('moves the checkpoint when all of a batch is durable, with pages and requests among the counts', async () => {
    const { flusher, checkpoints, records, lake } = await flusherOf()
    await flusher.write(batchOf(1), progressAt('p1'))
    await flusher.written()
    expect(records.all(name).size).toBe(1)
    expect(flusher.files).toHaveLength(lake.files.size)
    expect((await checkpoints.read(name))?.scan).toMatchObject({
      position: { at: 'page', token: 'p1' },
      segments: [{ fence: 1, parts: 1 }],
      counts: { received: 1, pages: 1, apiCalls: 2 },
    })
  })

  it('leaves the checkpoint where it was when a write fails, and tells whoever writes next', async () => {
    const failing = async () => {
      throw new Error('the table is away')
    }
    const { context } = await contextOf()
    const { flusher, checkpoints } = await flusherOf({ records: { ...context.deps.records, put: failing } })
    await flusher.write(batchOf(1), progressAt('p1'))
    await expect(flusher.write(batchOf(2), progressAt('p2'))).rejects.toThrow('the table is away')
    expect((await checkpoints.read(name))?.scan ?? null).toBeNull()
    expect(flusher.files).toEqual([])
  })

  it('gives the lease up with a status, at the first page when the tokens lead nowhere', async () => {
    const { flusher, checkpoints } = await flusherOf()
    await flusher.write(batchOf(1), progressAt('p1'))
    await flusher.written()
    await flusher.stop({ status: 'failed', reason: 'stalled', rereads: true, notBefore: null })
    expect(await checkpoints.read(name)).toMatchObject({
      status: 'failed',
      reason: 'stalled',
      scan: { position: { at: 'start' }, pass: 2 },
    })
    expect(await checkpoints.acquire(name, { owner: 'other', now: 0, expiresAt: 1 })).toHaveProperty('checkpoint')
  })
})

import { describe, expect, it } from 'vitest'
import { mergedKey } from '../../lib/stores/lake-paths.ts'
import { createMerger } from '../../lib/stores/merge-parts.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { createTablesWorld } from '../support/tables/tables-world.ts'
import { listOf, user, users } from '../sync/support/source.ts'

describe('what a publisher leaves that died in merging', () => {
  it('goes with the next publication, also where another version would have put other parts together', async () => {
    const world = createTablesWorld()
    const run = world.newRun()
    await world.sync(organizationUsers, listOf(users(6), 2), { runId: run.runId, settings: { flushRecords: 2 } })
    const earlier = createMerger(world.objects, { rows: 9, bytes: 9_000, partsAtOnce: 2, readAheadBytes: 9_000 })
    const lake: typeof world.lake = {
      ...world.lake,
      mergeParts: async (...args) => {
        await earlier.mergeParts(...args)
        throw new Error('killed')
      },
    }
    await expect(world.publishRun(run, {}, { lake })).rejects.toThrow('killed')
    const left = (await world.objects.list('changes/')).filter((key) => key.endsWith('.parquet'))
    expect(left).toHaveLength(1)
    const { manifest } = await world.publishRun(run)
    const listed = manifest.scans.flatMap(({ files }) => files.map(({ key }) => key))
    expect(listed).not.toContain(left[0])
    expect(await world.objects.list('changes/')).toEqual(listed)
  })

  it('is not what another publication lists in the same folder', async () => {
    const world = createTablesWorld()
    const run = world.newRun()
    await world.sync(organizationUsers, listOf(users(2)), { runId: run.runId })
    await world.publishRun(run)
    const [first] = await world.objects.list('changes/')
    // The scan was begun by the same run, and is published by a later one.
    await world.sync(organizationUsers, listOf([user(0, { firstName: 'Zoe' }), user(1)]), { runId: run.runId + 1 })
    const foreign = mergedKey([{ key: first!.replace(/[^/]*$/, 'nobody') }])
    await world.objects.put(foreign, Buffer.from('left behind'))
    const { lake } = world
    const [waiting] = await world.checkpoints.unpublished('organization_users')
    const remove = (signal: AbortSignal) =>
      lake.removeLeftovers([{ ...waiting!, runId: run.runId }], organizationUsers, { files: [], signal })
    // Whoever lost its lease may not know what the next one has merged.
    await expect(remove(AbortSignal.abort(new Error('lost')))).rejects.toThrow('lost')
    expect(await remove(new AbortController().signal)).toBe(1)
    expect(await world.objects.list(first!.replace(/[^/]*$/, ''))).toEqual([first])
  })
})

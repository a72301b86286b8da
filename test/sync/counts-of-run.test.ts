import { describe, expect, it } from 'vitest'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { Checkpoint } from '../../lib/sync/checkpoint.ts'
import { listOf, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

const stream = organizationUsers
const list = [user('odd', { email: 5 }), ...users(9)]

/** A world in which a run has read the first of two pages, in `pauses` attempts. */
async function halfRead(runId: string, pauses = 1) {
  const world = createWorld({ settings: { flushRecords: 1 } })
  for (let n = 0; n < pauses; n++) {
    let looks = 0
    const deadline = { remainingMs: () => (n === 0 && ++looks <= 1 ? 1e9 : 0) }
    expect(await world.sync(stream, listOf(list, 5), { runId, deadline })).toMatchObject({ status: 'paused' })
  }
  return world
}

describe('what a run asked and received', () => {
  it('is told apart from what its scan has come to, when another run began that', async () => {
    const world = await halfRead('first')
    const result = await world.sync(stream, listOf(list, 5), { runId: 'second' })
    expect(result).toMatchObject({
      status: 'complete',
      counts: { received: 10, inserted: 10, pages: 2, apiCalls: 2, invalid: { email: 1 } },
      ofRun: { received: 5, inserted: 5, pages: 1, apiCalls: 1, invalid: {} },
    })
    // A schedule that fires twice is told the same.
    expect(await world.sync(stream, listOf(list, 5), { runId: 'second' })).toEqual(result)
  })

  it('is all of it over the attempts of one run', async () => {
    const world = await halfRead('run', 2)
    const { counts, ofRun } = await world.sync(stream, listOf(list, 5), { runId: 'run' })
    expect(ofRun).toEqual(counts)
  })

  it('is not needed to read the checkpoint of a scan that an earlier version began', async () => {
    const world = await halfRead('first')
    const { scan, ...rest } = (await world.checkpoints.read(stream.name))!
    const {
      takenUp: _,
      counts: { invalid: __, ...counts },
      ...old
    } = scan!
    // What was written before there were such counts can be read.
    expect(Checkpoint.parse({ ...rest, scan: { ...old, counts } }).scan).toMatchObject({ counts: { invalid: {} } })
  })
})

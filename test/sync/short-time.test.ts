import { describe, expect, it } from 'vitest'
import { deadlineAfter } from '../../lib/core/deadline.ts'
import { FatalError, RetryableError } from '../../lib/core/errors.ts'
import { organizationUsers as stream } from '../../lib/streams/organization-users.ts'
import { listOf, scripted, users } from './support/source.ts'
import { createWorld, type World } from './support/world.ts'

function failing(error: Error) {
  return scripted((token) => {
    if (token !== null) throw error
    return { records: users(10), nextToken: 'p1' }
  })
}
const timeout = new RetryableError('The platform did not answer in 900 ms.', { code: 'timeout' })
/** The world lets an hour pass before each attempt. */
function left(world: World, ms: number) {
  return { deadline: deadlineAfter(world.clock, 3_600_000 + ms) }
}

describe('a request that fails', () => {
  it('shortly before the end of an invocation pauses the stream, and the next attempt goes on', async () => {
    const world = createWorld()
    expect(await world.sync(stream, failing(timeout), left(world, 20_000))).toMatchObject({
      status: 'paused',
      reason: timeout.message,
      counts: { received: 10 },
    })
    expect(await world.sync(stream, listOf(users(20), 10))).toMatchObject({
      status: 'complete',
      counts: { received: 20 },
    })
  })

  it('after it had all the time for its repetitions makes the stream fail', async () => {
    const world = createWorld()
    const result = await world.sync(stream, failing(timeout), left(world, 600_000))
    expect(result).toMatchObject({ status: 'failed', reason: timeout.message })
  })

  it('for a reason that no time would mend makes the stream fail at any time', async () => {
    const world = createWorld()
    const error = new FatalError('The key is not accepted.', { code: 'unauthorized' })
    expect(await world.sync(stream, failing(error), left(world, 20_000))).toMatchObject({ status: 'failed' })
  })
})

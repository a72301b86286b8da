import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FaultRule } from '../../lib/local/simulator/faults/rule.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { sourceOf } from './support/simulated.ts'
import { createWorld } from './support/world.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator({ counts: { sessions: 250 } })
})
afterAll(() => sim.close())
afterEach(() => sim.clearFaults())

describe('one record among many', () => {
  const change = (kind: Extract<FaultRule, { kind: 'mutateRecord' }>['change']): FaultRule => ({
    endpoint: 'listSessions',
    kind: 'mutateRecord',
    record: 3,
    page: 1,
    change: kind,
  })

  it.each<[string, Parameters<typeof change>[0], object]>([
    ['lacks a field', { do: 'remove', field: 'status' }, { inserted: 250, invalid: { status: 1 } }],
    [
      'has a null where there must be a value',
      { do: 'set', field: 'updatedAt', value: null },
      { invalid: { updatedAt: 1 } },
    ],
    ['has a count that is text', { do: 'set', field: 'messageCount', value: '' }, { invalid: { messageCount: 1 } }],
    ['has a number without a double', { do: 'rawNumber', field: 'messageCount' }, { invalid: { messageCount: 1 } }],
    ['is no object', { do: 'replace', value: 'oops' }, { inserted: 249, quarantined: 1 }],
    ['has an unknown field', { do: 'unknownField' }, { inserted: 250, drifted: 1 }],
    ['has an unknown status', { do: 'unknownEnum' }, { inserted: 250, drifted: 1 }],
    ['has half an emoji', { do: 'loneSurrogate', field: 'title' }, { inserted: 250, repaired: 1 }],
    ['comes twice', { do: 'duplicate' }, { received: 251, inserted: 250, duplicate: 1 }],
    ['comes again as it was before', { do: 'olderCopyLater' }, { inserted: 250, duplicate: 1 }],
  ])('%s', async (_what, kind, counts) => {
    sim.fault(change(kind))
    const world = createWorld()
    expect(await world.sync(sessions, sourceOf(sim))).toMatchObject({ status: 'complete', counts })
    await world.publish([sessions])
    expect([...world.current(sessions).values()].some(({ title }) => title === 'an older title')).toBe(false)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { RetryableError } from '../../lib/core/errors.ts'
import type { Json } from '../../lib/core/json.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import type { StreamResult } from '../../lib/sync/context.ts'
import type { Source } from '../../lib/sync/ports.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'
import { told } from '../support/stories.ts'
import {
  createLivingPlatform,
  type Fault,
  type Happening,
  type KindName,
  kinds,
  type LivingPlatform,
  type RequestEvent,
  sourceOf,
} from './support/living-platform.ts'
import { mortal, type Trouble } from './support/mortal.ts'
import { createWorld, type World } from './support/world.ts'

const leaseMs = 60_000

const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom('change', 'add', 'remove', 'break', 'oddField', 'heal', 'moveToEnd', 'staleCopy', 'unkeyed'),
  pick: fc.nat(50),
})
const event: fc.Arbitrary<RequestEvent> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ request: fc.integer({ min: 1, max: 12 }), happening }) },
  {
    weight: 1,
    arbitrary: fc.record({
      request: fc.integer({ min: 1, max: 12 }),
      fault: fc.constantFrom<Fault[]>('server_error', 'refused', 'partial', 'wait'),
    }),
  },
)
/** What befalls one attempt: a death or a failure at some call, or a deadline after some looks at the clock. */
const attempt = fc.record({
  trouble: fc.option(
    fc.record({
      call: fc.integer({ min: 1, max: 25 }),
      what: fc.constantFrom<Trouble['what'][]>('dies before', 'dies after', 'fails before', 'fails after'),
    }),
    { freq: 3 },
  ),
  pages: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 3 }),
})
const scan = fc.record({
  indexLost: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  before: fc.array(happening, { maxLength: 8 }),
  events: fc.array(event, { maxLength: 5 }),
  attempts: fc.array(attempt, { maxLength: 5 }),
})
type Scan = typeof scan extends fc.Arbitrary<infer T> ? T : never

const story = fc.record({
  kind: fc.constantFrom(...(Object.keys(kinds) as KindName[])),
  size: fc.integer({ min: 0, max: 30 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
  flushRecords: fc.integer({ min: 1, max: 20 }),
  scans: fc.array(scan, { minLength: 1, maxLength: 4 }),
})

const goesOn = new Set<string>(['paused', 'running', 'rate_limited'])

/** One scan, over as many attempts as it takes; what befalls them ends with the list of attempts. */
async function runScan(world: World, platform: LivingPlatform, { events, attempts }: Scan): Promise<StreamResult> {
  const { stream } = platform
  let run = world.newRun()
  let quietUntil = 0
  for (let n = 0; n < 20; n++) {
    const { trouble, pages } = attempts[n] ?? { trouble: null, pages: null }
    let looks = 0
    const deadline = { remainingMs: () => (pages !== null && ++looks > pages ? 0 : Number.POSITIVE_INFINITY) }
    const living = sourceOf(platform, n === 0 ? events : [])
    const fetchPage: Source['fetchPage'] = (...page) => {
      if (world.clock.now() < quietUntil) throw new Error('asked before the time that the platform gave')
      return living.fetchPage(...page)
    }
    const source = { fetchPage }
    const { deps, isDead } = mortal(world.deps(source, { deadline }), trouble)
    try {
      const result = await syncStream(stream, run, deps)
      if (result.status === 'complete' || result.status === 'suspect') return result
      if (result.status === 'rate_limited') {
        const waitMs = result.retryAfterMs ?? 0
        // The time is written down for whoever comes next, unless the process died before. If storage failed instead,
        // the one who drives the stream heard of it and waits.
        const storageFailed = trouble?.what.startsWith('fails') ?? false
        if (storageFailed) world.clock.advance(waitMs)
        else quietUntil = isDead() ? 0 : world.clock.now() + waitMs
      }
      if (result.status === 'failed') run = world.newRun()
      else if (!goesOn.has(result.status)) throw new Error(`unexpected ${result.status}`)
    } catch (error) {
      // A store that fails before the scan is open is the caller's to report; everything else is a bug.
      if (!isDead() && !(error instanceof RetryableError)) throw error
    }
    world.clock.advance(leaseMs + 1)
  }
  throw new Error('the scan does not come to an end')
}

function checkCounts({ counts }: StreamResult) {
  const { received, inserted, updated, unchanged, duplicate, quarantined } = counts ?? ({} as never)
  expect(inserted + updated + unchanged + duplicate + quarantined).toBe(received)
}

/** Records that stood still and usable during the scan are there, in the table and for readers, as they are. */
function checkStanding(world: World, platform: LivingPlatform, standing: Map<string, Json>) {
  const { stream } = platform
  const records = world.records.all(stream.name)
  for (const [id, record] of standing) {
    expect(records.get(id), id).toMatchObject({ body: canonicalJson(record), deletedAt: null })
  }
}

function stillAndValid(before: Map<string, Json | null>, platform: LivingPlatform): Map<string, Json> {
  const touched = platform.takeTouched()
  return new Map(
    [...platform.state()].filter(
      (entry): entry is [string, Json] => entry[1] !== null && before.has(entry[0]) && !touched.has(entry[0]),
    ),
  )
}

/** The lake's current rows, the records table and the platform say the same, once nothing moves any more. */
function checkSettled(world: World, platform: LivingPlatform) {
  const { stream } = platform
  const state = platform.state()
  const valid = [...state].filter(([, record]) => record !== null).map(([id]) => id)
  const current = world.current(stream)
  const live = new Map([...world.records.all(stream.name)].filter(([, { deletedAt }]) => deletedAt === null))
  // A record that is broken now may stand in the table as a dead attempt saw it, and in the lake as it was before that.
  const isBroken = (id: string) => state.get(id) === null
  const sound = (ids: Iterable<string>) => [...ids].filter((id) => !isBroken(id)).sort()
  expect(sound(current.keys())).toEqual(sound(live.keys()))
  for (const id of sound(live.keys())) expect(current.get(id)?._hash, id).toBe(live.get(id)?.hash)
  for (const id of valid) {
    expect(live.get(id)?.body, id).toBe(canonicalJson(state.get(id) as Json))
    expect(current.get(id)?._invalid !== null, id).toBe(platform.isOdd(id))
  }
  // What is live without being listed as valid was valid once and is broken now.
  for (const id of live.keys()) expect(state.has(id), id).toBe(true)
}

describe('whatever happens', () => {
  it('every record is accounted for, what stood still is there, and all stores end up as the platform is', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ kind, size, pageSize, flushRecords, scans }) => {
        const world = createWorld({ settings: { flushRecords, leaseMs } })
        const platform = createLivingPlatform(kind, { size, pageSize })
        for (const told of scans) {
          for (const each of told.before) platform.happen(each)
          platform.takeTouched()
          const before = platform.state()
          if (told.indexLost)
            await world.checkpoints.reset(platform.stream.name, { index: true, now: world.clock.now() })
          checkCounts(await runScan(world, platform, told))
          checkStanding(world, platform, stillAndValid(before, platform))
        }
        const quiet = { indexLost: false, before: [], events: [], attempts: [] }
        const settled = await runScan(world, platform, quiet)
        checkCounts(settled)
        // What is odd makes a scan suspect as well, and then there may be nothing to approve.
        const { lastScan } = (await world.checkpoints.read(platform.stream.name))!
        if (lastScan!.withheldDeletes > 0)
          await approveDeletes(platform.stream, world.newRun(), world.deps(sourceOf(platform, [])))
        await world.publish([platform.stream])
        checkSettled(world, platform)
        // And then nothing is left to do.
        const { counts } = await runScan(world, platform, quiet)
        expect(counts).toMatchObject({ inserted: 0, updated: 0, deleted: 0, duplicate: 0 })
      }),
      told(250),
    )
  })
})

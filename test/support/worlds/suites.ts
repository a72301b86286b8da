import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Stream } from '../../../lib/streams/stream.ts'
import { ownWrites, writesAround } from './audit-calls.ts'
import { atEachCall, type Difference } from './crash.ts'
import { moveOn } from './moved.ts'
import type { Call, Fate } from './outside.ts'
import { createWorlds, type Stage, type Story, type Worlds } from './world.ts'
import { outliveEach } from './zombie.ts'

/** Worlds for a test file. */
export function useWorlds(streams: readonly Stream[], story?: Story): () => Worlds {
  let worlds: Worlds | undefined
  beforeAll(async () => {
    worlds = await createWorlds(streams, story)
  })
  afterAll(() => worlds?.close())
  return () => worlds!
}

/** The crash matrix over some streams: each call to the outside, each way to die at it, in a first and in a later run. */
export function describeCrashes(title: string, streams: readonly Stream[], story?: Story): void {
  describe(title, () => {
    const worlds = useWorlds(streams, story)

    it.each([
      ['before', 'first'],
      ['after', 'first'],
      ['before', 'second'],
      ['after', 'second'],
    ] as const)(
      'ends as if nothing had happened when the process dies just %s any call of the %s run',
      async (when, which) => {
        const stage = worlds().stages[which === 'first' ? 0 : 1]
        expect(stage.calls.length).toBeGreaterThan(20)
        expect(await atEachCall(worlds(), stage, { fate: `die ${when}`, onward: when === 'after' })).toEqual([])
      },
    )

    it.each(['first', 'second'] as const)(
      'ends as if nothing had happened when the answer to any write of the %s run is lost',
      async (which) => {
        const stage = worlds().stages[which === 'first' ? 0 : 1]
        expect(await atEachCall(worlds(), stage, { fate: 'lose answer', only: ({ writes }) => writes })).toEqual([])
      },
    )
  })
}

/**
 * What the audit trail adds to the crash matrix of its stream: deaths before each write from when there is something to
 * record, and lost answers to its own writes. What comes before and after is the engine's, as in the matrix of sessions.
 */
export function describeCrashesOfRecording(title: string, streams: readonly Stream[]): void {
  describe(title, () => {
    const worlds = useWorlds(streams)
    const each = async (
      which: 'first' | 'second',
      { fate, calls }: { fate: Fate; calls: (stage: Stage) => Call[] },
    ) => {
      const stage = worlds().stages[which === 'first' ? 0 : 1]
      const chosen = new Set(calls(stage))
      expect(chosen.size).toBeGreaterThan(10)
      return atEachCall(worlds(), stage, { fate, only: (call) => chosen.has(call), onward: fate === 'die before' })
    }

    it.each(['first', 'second'] as const)(
      'ends as if nothing had happened when the process dies before any write around the recording of the %s run',
      async (which) => expect(await each(which, { fate: 'die before', calls: writesAround })).toEqual([]),
    )

    it.each(['first', 'second'] as const)(
      'ends as if nothing had happened when the answer to any write to the trail of the %s run is lost',
      async (which) => expect(await each(which, { fate: 'lose answer', calls: ownWrites })).toEqual([]),
    )
  })
}

/** Deaths just after each call of a run that finds changes in several streams, which it reads one after the other. */
export function describeCrashesOfMany(title: string, streams: readonly Stream[]): void {
  describe(title, () => {
    const worlds = useWorlds(streams)

    it('ends as if nothing had happened when the process dies just after any call', async () => {
      expect(await atEachCall(worlds(), worlds().stages[1], { fate: 'die after' })).toEqual([])
    })
  })
}

/** Workers that stall at each of these calls to the outside, and wake when another one has done their work. */
export function describeZombies(
  title: string,
  streams: readonly Stream[],
  { callsOf = ({ calls }) => calls, story }: { callsOf?: (stage: Stage) => readonly Call[]; story?: Story } = {},
): void {
  describe(title, () => {
    const worlds = useWorlds(streams, story)

    it.each(['first', 'second'] as const)(
      'changes nothing when it wakes, whichever call of the %s run it had on its lips',
      async (which) => {
        const stage = worlds().stages[which === 'first' ? 0 : 1]
        const calls = callsOf(stage)
        expect(calls.length).toBeGreaterThan(10)
        expect(await outliveEach(worlds(), stage, calls)).toEqual([])
      },
    )
  })
}

/** Workers that die or stall at each call of a first run, while the platform changes under them. */
export function describeMoves(title: string, streams: readonly Stream[]): void {
  describe(title, () => {
    const worlds = useWorlds(streams)
    const each = async (fate: 'die after' | 'stall', only: (call: Call) => boolean = () => true) => {
      const { stages } = worlds()
      const found: Difference[] = []
      for (const call of stages[0].calls.filter(only))
        found.push(await moveOn(worlds(), stages, { call, fate, streams }))
      return found.filter((difference) => difference !== null)
    }

    it('the next runs make everything as the platform is, after workers that died after any write of a first one', async () => {
      expect(await each('die after', ({ writes }) => writes)).toEqual([])
    })

    it('a worker that stalls past its lease at any call moves nothing back when it wakes (DDB-08)', async () => {
      expect(await each('stall')).toEqual([])
    })
  })
}

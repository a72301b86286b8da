import type { SharedWait, WaitsInARow } from './told-waits.ts'

/** What workers have in common, as it was before a call. Times are those of whoever wrote them. */
export type SharedRate = {
  /** The time at which a worker drew last, on the clock that this one went by; null before the first one. */
  readonly drawnAt: number | null
  readonly wait: SharedWait | null
}

/** A slice that was taken: when it begins, what was known before it, and how many calls that took. */
export type Drawn = { startsAt: number; seen: SharedRate; calls: number }

/** A wait that is to hold for all. */
export type NotedWait = { from: number; ms: number; inARow: WaitsInARow }

/** The one place of what workers share. */
export type SharedRates = {
  look(): Promise<SharedRate>
  /** Takes the next `lengthMs` of the schedule. `queued`: whether others probably took what begins right now. */
  draw(draw: { now: number; lengthMs: number; queued: boolean }): Promise<Drawn>
  /** Notes a wait in place of the one with the serial `after` (0: none); false when there is another one by now. */
  note(wait: NotedWait, after: number): Promise<boolean>
}

/** The place of workers that have nothing in common with other processes. */
export function createOwnRates(): SharedRates {
  let freeAt = Number.NEGATIVE_INFINITY
  let rate: SharedRate = { drawnAt: null, wait: null }
  return {
    look: async () => rate,
    draw: async ({ now, lengthMs }) => {
      const [startsAt, seen] = [Math.max(now, freeAt), rate]
      freeAt = startsAt + lengthMs
      rate = { ...rate, drawnAt: now }
      return { startsAt, seen, calls: 1 }
    },
    note: async (wait, after) => {
      if ((rate.wait?.serial ?? 0) !== after) return false
      rate = { ...rate, wait: { ...wait, serial: after + 1 } }
      return true
    },
  }
}

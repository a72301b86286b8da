import { randomUUID } from 'node:crypto'
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { type Place, readJson, writeAtomically } from './place.ts'

/** What became of deliveries so far; `status` shows it. */
export type DeliveryState = {
  delivered: number
  refused: number
  lastDeliveryAt: string | null
  lastError: { at: string; message: string } | null
  /** The collector asked for silence until then. */
  notBefore: string | null
}

/** The counts of what did not get into the spool. */
export type Counter = 'lost' | 'unreadable'

/** The memory of the command beside the spool: a small log, counters, the state of deliveries. */
export type Journal = {
  /** Writes a line to the log. Never throws, and never lets the token through. */
  log(message: string): void
  /** Adds one to a counter. Never throws. */
  count(counter: Counter): void
  counts(): Record<Counter, number>
  state(): DeliveryState
  /** Replaces the state; only who has the lock does. Never throws. */
  save(state: DeliveryState): void
}

/** The log is cut when it is this long; one older part of it is kept. */
const logBytes = 64 * 1024

/** Opens the journal of a folder. `secret` is left out of whatever is written. */
export function createJournal(place: Place, { secret }: { secret: string | null }): Journal {
  const withoutSecret = (text: string) => (secret ? text.split(secret).join('[token]') : text)
  const log = (message: string) =>
    quietly(() => {
      if (sizeOf(place.log) > logBytes) renameSync(place.log, `${place.log}.old`)
      const line = withoutSecret(message).replace(/\s+/g, ' ').slice(0, 500)
      appendFileSync(place.log, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 })
    })
  return {
    log,
    // One byte for each: adding needs no lock, and the size is the number.
    count: (counter) => quietly(() => appendFileSync(place[counter], '.', { mode: 0o600 })),
    counts: () => ({ lost: sizeOf(place.lost), unreadable: sizeOf(place.unreadable) }),
    state: () => stateOf(readJson(place.state)),
    save: (state) =>
      quietly(() => {
        const text = withoutSecret(JSON.stringify(state, null, 2))
        writeAtomically(place.state, text, { mode: 0o600, temporary: `${place.state}.${randomUUID()}.tmp` })
      }),
  }
}

function stateOf(value: unknown): DeliveryState {
  const none = { delivered: 0, refused: 0, lastDeliveryAt: null, lastError: null, notBefore: null }
  return typeof value === 'object' && value !== null ? { ...none, ...value } : none
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** A journal that can't be written has nowhere left to say so, and must not hold up the agent. */
function quietly(write: () => void): void {
  try {
    write()
  } catch {
    return
  }
}

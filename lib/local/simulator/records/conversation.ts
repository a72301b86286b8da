import type { Life } from '../population.ts'
import { hash32 } from '../random.ts'

/**
 * What is left of a session's messages after its changes. Each change adds two messages and edits one; every other
 * change, the first one among them, takes away the oldest but the very first. So all follows from the number of changes.
 */
export type Plan = {
  /** Messages before the first change. */
  readonly begun: number
  /** How many messages there ever were: their numbers run from 0 to this. */
  readonly created: number
  /** The messages from 1 to this are gone. */
  readonly gone: number
}

type Drawn = Pick<Life, 'key' | 'version'>

const addedByChange = 2

/** The plan of a session; `average` is of the messages before any change. */
export function planOf({ key, version }: Drawn, average: number): Plan {
  if (average === 0) return { begun: 0, created: 0, gone: 0 }
  const begun = 1 + (hash32(key, 90) % Math.max(1, 2 * average - 1))
  return { begun, created: begun + addedByChange * version, gone: Math.ceil(version / 2) }
}

/** How many messages a session has. */
export function messageCountOf(drawn: Drawn, average: number): number {
  const { created, gone } = planOf(drawn, average)
  return created - gone
}

/** The change that brought a message; 0 for one that was there before any. */
export function changeThatAdded(index: number, { begun }: Plan): number {
  return index < begun ? 0 : 1 + Math.floor((index - begun) / addedByChange)
}

/** The last change that edited a message; 0 for one that is as it was written. */
export function changeThatEdited(index: number, { key, version }: Drawn, { begun }: Plan): number {
  for (let change = version; change > 0; change -= 1) {
    if (editedBy(change, key, begun) === index) return change
  }
  return 0
}

/** The message that a change edits: one of those that the change found and left. */
function editedBy(change: number, key: number, begun: number): number {
  const oldest = Math.ceil(change / 2) + 1
  const found = begun + addedByChange * (change - 1) - oldest
  return found > 0 ? oldest + (hash32(key, 91, change) % found) : 0
}

import { type Cover, codes, coverOf, nothing, scalars, texts, wider } from './names.ts'
import { roleOf } from './pairs.ts'
import type { PathState } from './secret-paths.ts'
import type { TextRedactor } from './text.ts'

/**
 * A place in the records of one kind: what is hidden there, and what is known of each key that was met there. A record
 * then costs one look-up per key.
 */
export type Place = {
  readonly cover: Cover
  readonly state: PathState
  /** Keys are data here, and say nothing about their values. */
  readonly keysAreData: boolean
  /** Maps right below this place whose keys are data. */
  readonly dataMaps: readonly string[]
  readonly keys: Map<string, Key>
}

/** What a key says at its place. */
export type Key = {
  readonly below: Place
  /** The key without the secrets in it. */
  readonly clean: string
  /** Its part in a pair of name and value. */
  readonly role: number
}

/** Finds the places of a kind of record, each made once. */
export type Plan = {
  readonly root: Place
  key(place: Place, name: string): Key
  /** The same place where more is hidden. */
  covered(place: Place, cover: Cover): Place
}

const keysKept = 5_000
const noMaps: readonly string[] = []

/** A plan for records whose secret paths begin at `state`. */
export function createPlan(state: PathState, dataMaps: readonly string[], redactText: TextRedactor): Plan {
  const places = new Map<PathState, Place[]>()
  const placeOf = ({ state, cover, keysAreData }: Pick<Place, 'state' | 'cover' | 'keysAreData'>): Place => {
    const known = places.get(state) ?? []
    places.set(state, known)
    const at = cover * 2 + (keysAreData ? 1 : 0)
    const place = known[at] ?? { state, cover, keysAreData, dataMaps: noMaps, keys: new Map() }
    known[at] = place
    return place
  }
  return {
    root: { state, cover: nothing, keysAreData: false, dataMaps, keys: new Map() },
    covered: (place, cover) => (cover > place.cover ? placeOf({ ...place, cover }) : place),
    key: (place, name) => {
      const known = place.keys.get(name)
      if (known !== undefined) return known
      const state = place.state.next.get(name) ?? place.state.other
      const clean = redactText(name)
      // The clean key is what will be read the next time, and must not say more then.
      const cover = state.secret ? scalars : wider(coverBelow(place, name), coverBelow(place, clean))
      const key = {
        below: placeOf({ state, cover, keysAreData: place.dataMaps.includes(name) }),
        clean,
        role: place.keysAreData ? 0 : roleOf(name),
      }
      // Keys can be data (a map by session id), so the memory is bounded.
      if (place.keys.size < keysKept) place.keys.set(name, key)
      return key
    },
  }
}

/** What a key covers, or else what covers its object. A password's settings are counts, so its numbers end there. */
function coverBelow(place: Place, name: string): Cover {
  const inherited = place.cover === codes ? texts : place.cover
  return place.keysAreData ? inherited : wider(coverOf(name), inherited)
}

import type { Stream } from '../../../lib/streams/stream.ts'
import { differences } from './differences.ts'
import type { View } from './observe.ts'

const hashCharacters = 32

type Hashes = { [key: string]: string }

/** What lives in a stream, key to the beginning of its hash: in the records table, in the index, in the lake. */
function livesIn(view: View, stream: Stream): { records: Hashes; index: Hashes; lake: Hashes } {
  const [main] = stream.tables
  const records = Object.entries(view.records as { [pk: string]: { hash: string; deletedAt: string | null } })
    .filter(([pk, { deletedAt }]) => pk.startsWith(`${stream.name}#`) && deletedAt === null)
    .map(([pk, { hash }]) => [pk.slice(stream.name.length + 1), hash.slice(0, hashCharacters)] as const)
  const index = (view.index[stream.name] ?? []).map((entry) => entry as { key: string; hash: string })
  const lake = (view.current[main.name] ?? []).map((row) => JSON.parse(row) as { [column: string]: string })
  return {
    records: sorted(records),
    index: sorted(index.map(({ key, hash }) => [key, hash])),
    lake: sorted(lake.map((row) => [row[main.key[0]!]!, row._hash!.slice(0, hashCharacters)])),
  }
}

function sorted(entries: (readonly [string, string])[]): Hashes {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function whole(hashes: Hashes, ...views: View[]): Hashes {
  const lines = views.flatMap(({ quarantine }) => quarantine)
  const broken = new Set(lines.map((line) => (JSON.parse(line) as { key: string }).key))
  return Object.fromEntries(Object.entries(hashes).filter(([key]) => !broken.has(key)))
}

/**
 * Where the three places that say what lives disagree, and what lies about. Keys that came broken are left out: what is
 * held of them can be an older version that only one of the places has.
 */
export function incoherences(view: View, streams: readonly Stream[]): string[] {
  return [
    ...streams.flatMap((stream) => {
      const { records, index, lake } = livesIn(view, stream)
      const known = whole(index, view)
      return [
        ...differences(whole(records, view), known, 'records/index'),
        ...differences(whole(lake, view), known, 'lake/index'),
      ]
    }),
    ...view.orphans.map((key) => `${key} is in no manifest`),
    ...view.leftInState,
  ]
}

/** Where what lives differs from another world, apart from keys that either has seen in broken copies. */
export function unlike(view: View, other: View, streams: readonly Stream[]): string[] {
  return streams.flatMap((stream) => {
    const [one, two] = [livesIn(view, stream).index, livesIn(other, stream).index]
    return differences(whole(one, view, other), whole(two, view, other), 'lives')
  })
}

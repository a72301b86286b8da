import { Entry } from '../trail/entry.ts'
import { readAhead } from '../trail/read-ahead.ts'
import { unseal } from '../trail/sealed.ts'
import { type Change, diffSettings } from './diff.ts'
import type { Watch, WatchMatch } from './watch.ts'

/** A change with the watch rules that it matches. */
export type WatchedChange = Change & { matches: WatchMatch[] }

/** What a revision changed with regard to the one before it. */
export type Step = {
  entry: Entry
  /** The entry it is compared with; null when there is none before, and then all settings count as added and match no rule. */
  previous: Pick<Entry, 'revision' | 'sequence'> | null
  changes: WatchedChange[]
}

/** Where a revision was recorded. */
export type EntryPlace = Pick<Entry, 'revision' | 'sequence'>

const readsAtOnce = 16

/**
 * Goes through entries in the order of their revisions and compares each with the one before: of a revision that was
 * recorded twice, the second with the first. Entries that can't be read are left out, and what follows is compared with
 * the last one that can: who destroys an entry must not hide what the next one changed. `only` says which are wanted.
 */
export async function* readHistory(
  read: (sequence: number) => Promise<Uint8Array | null>,
  places: readonly EntryPlace[],
  { watch, only = () => true }: { watch: Watch; only?: (after: EntryPlace, before: EntryPlace | null) => boolean },
): AsyncGenerator<Step> {
  const ordered = places.toSorted((a, b) => a.revision - b.revision || a.sequence - b.sequence)
  const wanted = ordered.map((place, at) => only(place, ordered[at - 1] ?? null))
  // A wanted entry needs the one before it, which is then read right before it.
  const needed = ordered.flatMap((place, at) =>
    wanted[at] || wanted[at + 1] ? [{ at, sequence: place.sequence }] : [],
  )
  let before: Entry | null = null
  let lookedUpTo = -1
  for await (const { item, value: bytes } of readAhead(needed, readsAtOnce, ({ sequence }) => read(sequence))) {
    const { at } = item
    const entry = entryIn(bytes)
    if (entry && wanted[at]) yield stepOf(entry, before, watch)
    before = entry ?? (await lastReadable(read, ordered.slice(lookedUpTo + 1, at))) ?? before
    lookedUpTo = at
  }
}

function entryIn(bytes: Uint8Array | null): Entry | null {
  const object = bytes && unseal(bytes)
  return object ? Entry.parse(object.value) : null
}

async function lastReadable(
  read: (sequence: number) => Promise<Uint8Array | null>,
  places: readonly EntryPlace[],
): Promise<Entry | null> {
  for (const { sequence } of places.toReversed()) {
    const entry = entryIn(await read(sequence))
    if (entry) return entry
  }
  return null
}

function stepOf(entry: Entry, before: Entry | null, watch: Watch): Step {
  return {
    entry,
    previous: before && { revision: before.revision, sequence: before.sequence },
    changes: diffEntries(before, entry).map((change) => ({ ...change, matches: before ? watch(change) : [] })),
  }
}

/** What differs between the settings of two entries; of the first entry, all that is set. */
export function diffEntries(before: Entry | null, after: Entry): Change[] {
  return diffSettings(before?.settings, after.settings, {
    comparableSecrets: before === null || before.redactionKey === after.redactionKey,
  })
}

/** Who made a change, as far as the platform says so. */
export function userOf({ user }: Entry): { id: string | null; email: string | null; name: string | null } {
  const field = (name: string): string | null => {
    const value = (user as { [key: string]: unknown } | null | undefined)?.[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  return { id: field('id'), email: field('email'), name: field('name') }
}

/** A name for people: name and address as far as they are known. */
export function userText(entry: Entry): string {
  const { id, email, name } = userOf(entry)
  if (name && email) return `${name} <${email}>`
  return name ?? email ?? id ?? 'unknown'
}

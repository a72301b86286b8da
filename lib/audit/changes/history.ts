import { isPlainObject } from '../../core/canonical-json.ts'
import { type AuditEntry, type EntryRef, readEntry } from '../trail/entry.ts'
import { readAhead } from '../trail/read-ahead.ts'
import { diffSettings, type SettingChange } from './diff.ts'
import type { Watch, WatchMatch } from './watch.ts'

/** A change with the watch rules that it matches. */
export type WatchedChange = SettingChange & { matches: WatchMatch[] }

/** A revision with what it changed with regard to the one before it. */
export type RevisionDiff = {
  entry: AuditEntry
  /** The entry it is compared with; null when there is none before, and then all settings count as added and match no rule. */
  previous: EntryRef | null
  changes: WatchedChange[]
}

const readsAtOnce = 16

/**
 * Goes through entries in the order of their revisions and compares each with the one before: of a revision that was
 * recorded twice, the second with the first. Entries that can't be read are left out, and what follows is compared with
 * the last one that can: who destroys an entry must not hide what the next one changed. `only` says which are wanted.
 */
export async function* readHistory(
  read: (sequence: number) => Promise<Uint8Array | null>,
  refs: readonly EntryRef[],
  { watch, only = () => true }: { watch: Watch; only?: (after: EntryRef, before: EntryRef | null) => boolean },
): AsyncGenerator<RevisionDiff> {
  const ordered = refs.toSorted((a, b) => a.revision - b.revision || a.sequence - b.sequence)
  const wanted = ordered.map((ref, at) => only(ref, ordered[at - 1] ?? null))
  // A wanted entry needs the one before it, which is then read right before it.
  const needed = ordered.flatMap((ref, at) => (wanted[at] || wanted[at + 1] ? [{ at, sequence: ref.sequence }] : []))
  let before: AuditEntry | null = null
  let readUpTo = -1
  for await (const { item, value: bytes } of readAhead(needed, readsAtOnce, ({ sequence }) => read(sequence))) {
    const { at } = item
    const entry = readEntry(bytes)
    if (entry && wanted[at]) yield diffOf(entry, before, watch)
    before = entry ?? (await lastReadable(read, ordered.slice(readUpTo + 1, at))) ?? before
    readUpTo = at
  }
}

async function lastReadable(
  read: (sequence: number) => Promise<Uint8Array | null>,
  refs: readonly EntryRef[],
): Promise<AuditEntry | null> {
  for (const { sequence } of refs.toReversed()) {
    const entry = readEntry(await read(sequence))
    if (entry) return entry
  }
  return null
}

function diffOf(entry: AuditEntry, before: AuditEntry | null, watch: Watch): RevisionDiff {
  return {
    entry,
    previous: before && { revision: before.revision, sequence: before.sequence },
    changes: diffEntries(before, entry).map((change) => ({ ...change, matches: before ? watch(change) : [] })),
  }
}

/** Compares the settings of two entries; of the first entry, all that is set counts as added. */
export function diffEntries(before: AuditEntry | null, after: AuditEntry): SettingChange[] {
  return diffSettings(before?.settings, after.settings, {
    comparableSecrets: before === null || before.redactionKey === after.redactionKey,
  })
}

/** The person who made a change, as far as the platform says so: an object, or a text that is then taken for the name. */
export function userOf({ user }: AuditEntry): { id: string | null; email: string | null; name: string | null } {
  const fields: { [name: string]: unknown } = isPlainObject(user) ? user : { name: user }
  const field = (name: 'id' | 'email' | 'name'): string | null => {
    const value = fields[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  return { id: field('id'), email: field('email'), name: field('name') }
}

/** A name for people: name and address as far as they are known. */
export function userText(entry: AuditEntry): string {
  const { id, email, name } = userOf(entry)
  if (name && email) return `${name} <${email}>`
  return name ?? email ?? id ?? 'unknown'
}

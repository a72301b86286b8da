import { mapConcurrently, slices } from '../core/concurrency.ts'
import { withoutShard } from '../streams/shards.ts'
import type { Finder } from './person.ts'
import { policyFolder, policyPlans } from './places.ts'
import type { Bucket, EraseDeps, Item, OldVersion } from './ports.ts'

/** What becomes of a place where a person is named. */
export type Fate = 'rewritten' | 'removed' | 'yours' | 'stays'

/** An object that names a person: in so many rows, lines or entries. */
export type Hit = { place: string; key: string; mentions: number; fate: Fate }

/** Everything that names a person. */
export type Found = {
  /** Files of the lake: rows and quarantined records. */
  files: Hit[]
  /** Objects of Iceberg tables, which follow from the files. */
  tables: Hit[]
  /** Other objects of the lake bucket. */
  objects: Hit[]
  inbox: Hit[]
  savedPlans: Hit[]
  items: { name: 'records' | 'limits' | 'state'; item: Item }[]
  versions: { bucket: 'lake' | 'inbox'; version: OldVersion }[]
  /** Entries of the audit trail, which nobody can change. */
  audit: Hit[]
}

/** Looks for a person in everything that is kept. Changes nothing. */
export async function findEverywhere(finder: Finder, deps: EraseDeps): Promise<Found> {
  const { lake, inbox, audit } = deps
  const looking = { finder, deps }
  const within = (prefix: string, fate: Fate) => hitsIn(lake, { prefix, fate, ...looking })
  const index = deps.streams.filter(({ about }) => about).map(({ name }) => `index/${withoutShard(name)}/`)
  const indexHits: Hit[] = []
  for (const prefix of index) indexHits.push(...(await within(prefix, 'removed')))
  return {
    files: [...(await within('changes/', 'rewritten')), ...(await within('quarantine/', 'rewritten'))],
    tables: await within('iceberg/', 'rewritten'),
    objects: [
      ...(await within('bodies/', 'rewritten')),
      ...(await within('hooks/', 'rewritten')),
      ...(await within('query-results/', 'removed')),
      ...indexHits,
    ],
    inbox: inbox ? (await hitsIn(inbox, { prefix: '', fate: 'removed', ...looking })).map(inInbox) : [],
    savedPlans: (await hitsIn(deps.savedPlans, { prefix: '', fate: 'removed', ...looking })).map(inSavedPlans),
    items: [
      ...(await itemsIn('records', finder, deps)),
      ...(await itemsIn('limits', finder, deps)),
      ...(await itemsIn('state', finder, deps)),
    ],
    versions: [...(await versionsIn('lake', finder, deps)), ...(await versionsIn('inbox', finder, deps))],
    audit: audit ? await hitsIn(audit, { prefix: '', fate: 'stays', ...looking }) : [],
  }
}

function inInbox(hit: Hit): Hit {
  if (hit.key.startsWith(policyFolder)) return { ...hit, place: 'policy', fate: 'yours' }
  if (hit.key.startsWith(policyPlans)) return { ...hit, place: 'plans and memory of the policy', fate: 'rewritten' }
  return { ...hit, place: 'dropped files' }
}

function inSavedPlans(hit: Hit): Hit {
  return { ...hit, place: 'plans saved on this machine' }
}

const readsAtOnce = 8

type Looking = { prefix: string; fate: Fate; finder: Finder; deps: EraseDeps }

async function hitsIn(bucket: Pick<Bucket, 'list' | 'get'>, { prefix, fate, finder, deps }: Looking): Promise<Hit[]> {
  const keys = await bucket.list(prefix)
  const found = await mapConcurrently(keys, readsAtOnce, async (key): Promise<Hit | null> => {
    const bytes = await bucket.get(key)
    const mentions = bytes ? await deps.contents.mentions(key, bytes, finder) : 0
    return mentions > 0 ? { place: placeOf(key), key, mentions, fate } : null
  })
  return found.filter((hit) => hit !== null)
}

/** The place of an object, as people know it: the folder, and in it the table or stream. */
function placeOf(key: string): string {
  const folders = key.split('/').slice(0, -1)
  return folders.slice(0, folders[1]?.includes('=') ? 1 : 2).join('/') || key
}

async function itemsIn(name: Found['items'][number]['name'], finder: Finder, deps: EraseDeps): Promise<Found['items']> {
  const found: Found['items'] = []
  const items = deps[name]
  if (items) for await (const item of items.all()) if (isNamed(item, finder)) found.push({ name, item })
  return found
}

/** Whether an item names a person, also in what is nested in it. */
export function isNamed(value: unknown, finder: Finder): boolean {
  if (typeof value === 'string') return finder.isIn(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => isNamed(inner, finder))
}

async function versionsIn(bucket: 'lake' | 'inbox', finder: Finder, deps: EraseDeps): Promise<Found['versions']> {
  const from = deps[bucket]
  const all: OldVersion[] = []
  if (from) for await (const version of from.oldVersions()) all.push(version)
  const named: Found['versions'] = []
  for (const some of slices(all, readsAtOnce)) {
    const counts = await mapConcurrently(some, readsAtOnce, async (version) => {
      const bytes = await from?.getVersion(version)
      return bytes ? await deps.contents.mentions(version.key, bytes, finder) : 0
    })
    named.push(...some.filter((_, at) => (counts[at] ?? 0) > 0).map((version) => ({ bucket, version })))
  }
  return named
}

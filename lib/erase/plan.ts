import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import type { PlaceCount } from './done.ts'
import { type Fate, type Found, findEverywhere } from './find.ts'
import { identify } from './identify.ts'
import { createFinder, type Finder, type Person } from './person.ts'
import { workKey } from './places.ts'
import type { EraseDeps } from './ports.ts'

/** What erasing a person would do. */
export type ErasurePlan = {
  person: Person
  /** What is kept of the address. */
  fingerprint: string
  places: PlaceCount[]
  /** Variables that name no place, so that it is not looked at. */
  unnamed: string[]
  /** Why it may not be done yet, each with what to do. */
  refusals: string[]
}

/** A plan, and what it was made from. */
export type Prepared = { plan: ErasurePlan; finder: Finder; found: Found }

const StoredPerson = z.object({
  addresses: z.array(z.string()),
  ids: z.array(z.string()),
  names: z.array(z.string()),
  nameParts: z.array(z.string()),
  others: z.array(z.string()),
  fingerprints: z.array(z.string()),
})

/** A person as somebody asks for them: an address, also as it was written, and what else they are known by. */
export type Asked = { address: string; written: string; others: readonly string[] }

/** Finds a person everywhere, and says what erasing them would do. Changes nothing. */
export async function planErasure({ address, written, others }: Asked, deps: EraseDeps): Promise<Prepared> {
  const fingerprint = deps.fingerprint(address)
  const asked: Person = {
    ...{ addresses: [address], ids: [], names: [], nameParts: [], others },
    fingerprints: [address, written].map(deps.hashedForm),
  }
  const bytes = await deps.lake.get(workKey(fingerprint))
  const before = bytes && StoredPerson.parse(JSON.parse(Buffer.from(bytes).toString()))
  const { person, isListed } = await identify(asked, before, deps)
  const finder = createFinder(person)
  const refusals = [...(await unfinished(deps)), ...(isListed ? [stillListed] : [])]
  const found = await findEverywhere(finder, deps)
  const said = { unnamed: unnamedIn(deps), refusals: [...refusals, ...refusalsOf(found)] }
  const plan = { person, fingerprint, places: countsOf(found), ...said }
  return { plan, finder, found }
}

function unnamedIn({ limits, inbox, audit }: EraseDeps): string[] {
  const places = { LIMITS_TABLE: limits, INBOX_BUCKET: inbox, AUDIT_BUCKET: audit }
  return Object.entries(places).flatMap(([variable, place]) => (place === null ? [variable] : []))
}

const stillListed =
  'The platform lists the person among the users, as of the last scan: delete the user there, run "platform-sync sync", and ' +
  'erase then. Else the next sync brings back what is erased.'

/** What waits to be published holds rows that are in no list, and what is being read may name the person a moment later. */
export async function unfinished({ checkpoints, streams, clock }: EraseDeps): Promise<string[]> {
  const stateOf = await checkpoints.look(clock.now())
  const busy = streams.map(({ name }) => {
    const { holder, checkpoint } = stateOf(name)
    return holder !== null || (checkpoint?.scan?.segments.length ?? 0) > 0 ? name : null
  })
  const waiting = (await checkpoints.unpublishedOf(streams.map(({ name }) => name))).map(({ stream }) => stream)
  const names = [...new Set([...busy.filter((name) => name !== null), ...waiting])]
  if (names.length === 0) return []
  return [
    `A scan is being read or waits for publish: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' and others' : ''}. Wait for ` +
      'the sync, or run "platform-sync sync" to finish it, and erase then.',
  ]
}

function refusalsOf({ inbox, items }: Found): string[] {
  const policy = inbox.filter(({ fate }) => fate === 'yours').map(({ key }) => key)
  const isUnderway = items.some(({ name, item }) => name === 'limits' && item.pk === 'worker')
  return [
    ...(policy.length > 0
      ? [`The policy of credit limits names the person: take them out of ${policy.join(', ')}, and erase then.`]
      : []),
    ...(isUnderway ? ['A limit of the person is on its way: wait until it is applied, and erase then.'] : []),
  ]
}

function countsOf(found: Found): PlaceCount[] {
  const { files, tables, objects, inbox, savedPlans, items, versions, audit } = found
  const hits = [
    ...files,
    ...tables,
    ...objects,
    ...inbox,
    ...savedPlans,
    ...audit.map((hit) => ({ ...hit, place: 'audit trail' })),
  ]
  const counts = new Map<string, PlaceCount>()
  const add = (place: string, fate: Fate, mentions: number) => {
    const count = counts.get(place) ?? { place, objects: 0, mentions: 0, fate }
    counts.set(place, { ...count, objects: count.objects + 1, mentions: count.mentions + mentions })
  }
  for (const { place, fate, mentions } of hits) add(place, fate, mentions)
  for (const { name } of items) add(`${name} table`, 'rewritten', 1)
  for (const { bucket } of versions) add(`old versions in the ${bucket} bucket`, 'removed', 1)
  return [...counts.values()]
}

/** @throws FatalError `usage` with all that stands in the way. */
export function requirePossible({ refusals }: ErasurePlan): void {
  if (refusals.length > 0) throw new FatalError(`Nothing was erased.\n${refusals.join('\n')}`, { code: 'usage' })
}

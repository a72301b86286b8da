import { mapConcurrently } from '../core/concurrency.ts'
import { isHashed } from '../core/stand-ins.ts'
import { enterpriseControlRevisions } from '../streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../streams/organization-users.ts'
import { createFinder, type Finder, joined, type Person } from './person.ts'
import type { EraseDeps, Item } from './ports.ts'

/** A person as they are known, and whether the platform lists them among the users. */
export type Identified = { person: Person; isListed: boolean }

/** What a user's record says about who it is. */
type User = { id: string; email: string; first: string; last: string; isListed: boolean }

const nobody: Person = { addresses: [], ids: [], names: [], nameParts: [], others: [], fingerprints: [] }

/**
 * Who an address belongs to: its user, by the records and the lake, the other addresses that this user had, and the names.
 * `before` is what an erasure that was not finished knew.
 */
export async function identify(asked: Person, before: Person | null, deps: EraseDeps): Promise<Identified> {
  const known = before ? joined([asked, before]) : asked
  const { users: inRecords, authors } = await peopleInRecords(deps)
  const users = [...inRecords, ...(await usersInLake(deps))]
  const own = withAll(known, users)
  const finder = createFinder(own)
  const mine = users.filter((user) => isSame(user, finder))
  const shared = new Set(users.filter((user) => !mine.includes(user)).map(fullName))
  const signed = authors.filter(({ id, email }) => isSame({ id, email }, finder)).map(({ name }) => name)
  const names = [...mine.map(fullName), ...signed].filter(isKept)
  // A name that somebody else has, too, says nothing by itself.
  const [whole, parts] = partition(names, (name) => name.includes(' ') && !shared.has(name))
  const pieces = mine.flatMap(({ first, last }) => [first, last])
  const person = joined([own, { ...nobody, names: whole, nameParts: [...parts, ...pieces].filter(isKept) }])
  return { person, isListed: mine.some(({ isListed }) => isListed) }
}

/** Ids of an address and addresses of an id, until no other is found. */
function withAll(known: Person, users: readonly User[]): Person {
  const finder = createFinder(known)
  const mine = users.filter((user) => isSame(user, finder))
  const emails = mine.map(({ email }) => email)
  const [fingerprints, addresses] = partition(
    emails.filter((email) => email !== ''),
    isHashed,
  )
  const next = joined([
    known,
    { ...nobody, ids: mine.map(({ id }) => id), addresses: addresses.map(lowered), fingerprints },
  ])
  const isMore = next.ids.length + next.addresses.length > known.ids.length + known.addresses.length
  return isMore ? withAll(next, users) : next
}

function lowered(address: string): string {
  return address.trim().normalize('NFC').toLowerCase()
}

function isSame({ id, email }: Pick<User, 'id' | 'email'>, finder: Finder): boolean {
  return finder.is(id) || (email !== '' && finder.is(email))
}

function fullName({ first, last }: User): string {
  return [first, last].filter(isKept).join(' ')
}

function isKept(name: string): boolean {
  return name !== '' && !isHashed(name)
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

type KnownPeople = { users: User[]; authors: { id: string; email: string; name: string }[] }

/** Users, and who changed settings: read in one go, since there may be many other records. */
async function peopleInRecords({ records }: EraseDeps): Promise<KnownPeople> {
  const people: KnownPeople = { users: [], authors: [] }
  for await (const item of records.all()) {
    if (isOf(item, organizationUsers.name)) {
      const { id, email, firstName, lastName } = bodyOf(item)
      const isListed = item.deletedAt === undefined
      people.users.push({
        id: textOf(id),
        email: textOf(email),
        first: textOf(firstName),
        last: textOf(lastName),
        isListed,
      })
    }
    if (isOf(item, enterpriseControlRevisions.name)) {
      const { id, email, name } = (bodyOf(item).user ?? {}) as Item
      people.authors.push({ id: textOf(id), email: textOf(email), name: textOf(name) })
    }
  }
  return people
}

const readsAtOnce = 4

async function usersInLake({ lists, lake, contents }: EraseDeps): Promise<User[]> {
  const [table] = organizationUsers.tables
  const files = (await lists.readFiles()).filter((file) => file.kind === 'changes' && file.table === table.name)
  const columns = ['id', 'email', 'first_name', 'last_name']
  const found = await mapConcurrently(files, readsAtOnce, async ({ key }) => {
    const bytes = await lake.get(key)
    return bytes ? await contents.cells(organizationUsers, bytes, columns) : []
  })
  return found.flat().map(([id, email, first, last]) => {
    return { id: id ?? '', email: email ?? '', first: first ?? '', last: last ?? '', isListed: false }
  })
}

function isOf({ pk }: Item, stream: string): boolean {
  return typeof pk === 'string' && pk.startsWith(`${stream}#`)
}

/** The body of a record; nothing of one that is kept elsewhere since it is large. */
function bodyOf({ body }: Item): Item {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : {}
  return typeof value === 'object' && value !== null ? (value as Item) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim().normalize('NFC') : ''
}

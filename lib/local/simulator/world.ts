import type { ResourceName, Settings } from './options.ts'
import { resourceNames } from './options.ts'
import { type Clock, createPopulation, type Life, type Population } from './population.ts'
import { hash32, positionOf, uuidOf } from './random.ts'
import { computerOf } from './records/computers.ts'
import { type MessagePlace, messageIdOf, messageIndexOf, messageOf } from './records/messages.ts'
import { reportOf } from './records/reports.ts'
import { revisionOf } from './records/revisions.ts'
import { sessionOf } from './records/sessions.ts'
import { emailOf, positionOfEmail, userOf } from './records/users.ts'
import { createResource, type Generator, type Resource } from './resource.ts'

/** Everything the platform holds. */
export type World = {
  readonly resources: Readonly<Record<ResourceName, Resource>>
  readonly clock: Clock
  now(): number
  /** Moves the clock by one step: records change, appear and go. */
  advance(hours: number): void
  /** Messages that were added through the API, by session. */
  readonly addedMessages: Map<string, string[]>
  /** The generated messages of a session: how many there are, and each of them. */
  messagesOf(sessionId: string): { count: number; at(index: number): string }
  /** The index of a message in its session. */
  messageIndex(messageId: string): number
  hasUser(email: string): boolean
}

/** Builds the platform; takes no memory per record. */
export const createWorld = (settings: Settings): World => {
  const clock: Clock = { times: [settings.startedAt] }
  const people = (name: ResourceName) => populationOf(name, settings, clock)
  const populations = Object.fromEntries(resourceNames.map((name) => [name, people(name)])) as Record<
    ResourceName,
    Population
  >
  const keyOf = (name: ResourceName) => resourceKey(settings.seed, name)
  const withUuid = (name: ResourceName, prefix: string) => ({
    population: populations[name],
    idOf: ({ position }: Life) => `${prefix}${uuidOf(keyOf(name), position)}`,
    positionOf: (id: string) => (id.startsWith(prefix) ? positionOf(keyOf(name), id.slice(prefix.length)) : undefined),
  })
  const computers = withUuid('computers', 'cmp_')
  const sessions = withUuid('sessions', '')
  const messageCount = ({ key, version }: Life) => messagesIn(key, settings.counts.messagesPerSession) + version * 2
  const contextOf = (life: Life, id: string) => ({
    id,
    childId: uuidOf(keyOf('sessions'), life.position + 1),
    messages: messageCount(life) + (addedMessages.get(id)?.length ?? 0),
    computerId: computerFor(life.key),
  })
  const computerIds = Array.from(
    { length: settings.counts.computers },
    (_, n) => `cmp_${uuidOf(keyOf('computers'), n)}`,
  )
  const computerFor = (key: number) => (computerIds.length > 0 ? computerIds[key % computerIds.length] : undefined)
  const addedMessages = new Map<string, string[]>()
  const generators: Record<ResourceName, Generator> = {
    reports: { ...withUuid('reports', ''), idField: 'reportId', record: reportOf },
    sessions: { ...sessions, idField: 'sessionId', record: (life, id) => sessionOf(life, contextOf(life, id)) },
    users: { ...withUuid('users', 'user_'), idField: 'id', record: userOf },
    revisions: revisionGenerator(populations.revisions),
    computers: { ...computers, idField: 'id', record: computerOf },
  }
  const resources = Object.fromEntries(resourceNames.map((name) => [name, createResource(generators[name])])) as Record<
    ResourceName,
    Resource
  >
  const now = () => clock.times.at(-1) as number

  const messagesOf = (sessionId: string) => {
    const position = sessions.positionOf(sessionId)
    const life = position === undefined ? undefined : populations.sessions.at(position)
    const place = (index: number): MessagePlace => ({
      sessionId,
      index,
      key: life?.key ?? 0,
      createdAt: life?.createdAt ?? now(),
    })
    return { count: life ? messageCount(life) : 0, at: (index: number) => JSON.stringify(messageOf(place(index))) }
  }

  return {
    resources,
    clock,
    now,
    advance: (hours) => void clock.times.push(now() + hours * 3_600_000),
    addedMessages,
    messagesOf,
    messageIndex: messageIndexOf,
    hasUser: (email) => hasUser(email, populations.users, resources.users),
  }
}

/** The id that the next message added to a session takes. */
export const nextMessageId = (world: World, sessionId: string): string =>
  messageIdOf(sessionId, world.messagesOf(sessionId).count + (world.addedMessages.get(sessionId)?.length ?? 0))

const resourceKey = (seed: number, name: ResourceName) => hash32(seed, resourceNames.indexOf(name))

const populationOf = (name: ResourceName, { seed, counts, rates, order }: Settings, clock: Clock): Population =>
  createPopulation({ key: resourceKey(seed, name), count: counts[name], rates: rates[name], order, clock })

const revisionGenerator = (population: Population): Generator => ({
  population,
  idField: 'revision',
  idOf: ({ age }) => String(age + 1),
  positionOf: (id) => {
    for (let at = 0; at < population.positions(); at += 1)
      if (String((population.at(at)?.age ?? -1) + 1) === id) return at
    return undefined
  },
  record: revisionOf,
})

const messagesIn = (key: number, average: number): number =>
  average === 0 ? 0 : 1 + (hash32(key, 90) % Math.max(1, 2 * average - 1))

const hasUser = (email: string, population: Population, users: Resource): boolean => {
  const position = positionOfEmail(email)
  const life = position === undefined ? undefined : population.at(position)
  const wanted = email.toLowerCase()
  if (life && emailOf(life) === wanted && users.slice({ start: life.position, limit: 1 }).records[0]?.includes(wanted))
    return true
  return users.writtenRecords().some((text) => text.toLowerCase().includes(`"email":"${wanted}"`))
}

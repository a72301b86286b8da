import { type Conversations, createConversations } from './conversations.ts'
import { createGenerators } from './generators.ts'
import { type ResourceName, resourceNames, type Settings } from './options.ts'
import type { Clock, Population } from './population.ts'
import { emailOf, positionOfEmail } from './records/users.ts'
import { createResource, type Resource } from './resource.ts'

/** Everything the platform holds. */
export type World = {
  readonly resources: Readonly<Record<ResourceName, Resource>>
  readonly conversations: Conversations
  /** How often the clock was moved. */
  step(): number
  /** The platform's clock, in Unix ms. */
  now(): number
  /** Moves the clock by one step: records change, appear and go. */
  advance(hours: number): void
  hasUser(email: string): boolean
}

/** Builds the platform; takes no memory per record. */
export function createWorld(settings: Settings): World {
  const clock: Clock = { times: [settings.startedAt] }
  const generators = createGenerators(settings, clock)
  const entries = resourceNames.map((name) => [name, createResource(generators[name])])
  const resources = Object.fromEntries(entries) as Record<ResourceName, Resource>
  const now = () => clock.times.at(-1) as number
  return {
    resources,
    conversations: createConversations(generators.sessions, {
      messagesPerSession: settings.counts.messagesPerSession,
      oddMessages: settings.oddMessages,
    }),
    step: () => clock.times.length - 1,
    now,
    advance: (hours) => void clock.times.push(now() + hours * 3_600_000),
    hasUser: (email) => hasUser(email, generators.users.population, resources.users),
  }
}

function hasUser(email: string, population: Population, users: Resource): boolean {
  const wanted = email.toLowerCase()
  const position = positionOfEmail(wanted)
  const life = position === undefined ? undefined : population.at(position)
  const candidates = life && emailOf(life) === wanted ? users.slice({ start: life.position, limit: 1 }).records : []
  return [...candidates, ...users.writtenRecords()].some((text) => emailIn(text)?.toLowerCase() === wanted)
}

function emailIn(text: string): string | undefined {
  return /"email"\s*:\s*"([^"]*)"/.exec(text)?.[1]
}

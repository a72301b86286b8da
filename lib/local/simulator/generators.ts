import { type ResourceName, resourceNames, type Settings } from './options.ts'
import { type Clock, createPopulation, type Life, type Population } from './population.ts'
import { hash32, positionOf, uuidOf } from './random.ts'
import { computerOf } from './records/computers.ts'
import { messageCountOf } from './records/conversation.ts'
import { reportOf } from './records/reports.ts'
import { revisionOf } from './records/revisions.ts'
import { sessionOf } from './records/sessions.ts'
import { userOf } from './records/users.ts'
import type { RecordGenerator } from './resource.ts'

/** The generator of every resource. */
export function createGenerators(settings: Settings, clock: Clock): Record<ResourceName, RecordGenerator> {
  const { seed, counts, rates, order } = settings
  const withUuid = (name: ResourceName, prefix: string) => {
    const key = resourceKey(seed, name)
    return {
      population: createPopulation({ key, count: counts[name], rates: rates[name], order, clock }),
      idOf: ({ position }: Life) => `${prefix}${uuidOf(key, position)}`,
      positionOf: (id: string) => (id.startsWith(prefix) ? positionOf(key, id.slice(prefix.length)) : undefined),
    }
  }
  const computers = withUuid('computers', 'cmp_')
  const sessions = withUuid('sessions', '')
  const revisions = withUuid('revisions', '').population
  const computerIds = Array.from(
    { length: counts.computers },
    (_, n) => `cmp_${uuidOf(resourceKey(seed, 'computers'), n)}`,
  )
  const contextOf = (life: Life, id: string) => ({
    id,
    childId: uuidOf(resourceKey(seed, 'sessions'), life.position + 1),
    messages: messageCountOf(life, counts.messagesPerSession),
    computerId: computerIds[life.key % computerIds.length],
  })
  return {
    reports: { ...withUuid('reports', ''), idField: 'reportId', record: reportOf },
    sessions: { ...sessions, idField: 'sessionId', record: (life, id) => sessionOf(life, contextOf(life, id)) },
    users: { ...withUuid('users', 'user_'), idField: 'id', record: userOf },
    revisions: { population: revisions, idField: 'revision', ...byNumber(revisions), record: revisionOf },
    computers: { ...computers, idField: 'id', record: computerOf },
  }
}

function resourceKey(seed: number, name: ResourceName) {
  return hash32(seed, resourceNames.indexOf(name))
}

function byNumber(population: Population): Pick<RecordGenerator, 'idOf' | 'positionOf'> {
  return {
    idOf: ({ age }) => String(age + 1),
    positionOf: (id) => {
      for (let at = 0; at < population.positions(); at += 1) {
        const life = population.at(at)
        if (life && String(life.age + 1) === id) return at
      }
      return undefined
    },
  }
}

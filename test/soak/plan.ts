import { type Draws, drawsOf } from './draws.ts'

/** The jobs that a day has: each is started by a schedule, a queue or a file. */
export const jobs = ['settings', 'import', 'hooks', 'night', 'policy', 'apply', 'digest'] as const
export type Job = (typeof jobs)[number]

const lists = ['listReports', 'listSessions', 'listUsers', 'listRevisions', 'listComputers', 'listMessages'] as const

/** Where in a job something strikes: the share of its calls that have passed, by what the job took the last time. */
type Strike = { job: Job; at: number }

/** What goes wrong. All of it follows from the seed and the night. */
export type Fault =
  | { kind: 'throttled'; endpoint: (typeof lists)[number]; times: number; seconds: number }
  | { kind: 'server errors'; endpoint: (typeof lists)[number]; times: number }
  | { kind: 'page token expires'; endpoint: (typeof lists)[number] }
  | ({ kind: 'reply lost' | 'killed before a call' | 'killed after a call' } & Strike)
  | ({ kind: 'stalled past the lease' } & Strike)
  | { kind: 'little time'; seconds: number }
  | { kind: 'platform key rotated in the night'; at: number }
  | { kind: 'redaction key rotated' | 'signing key rotated' }
  | { kind: 'broken night' }
  | { kind: 'wrong file'; how: (typeof wrongFiles)[number] }
  | { kind: 'field of tomorrow'; list: 'sessions' | 'users' | 'computers' | 'reports' }
  | { kind: 'publish fails'; place: 'iceberg/' | 'manifests/' | 'changes/' }
  | { kind: 'message comes twice' }

/** Files that nobody should take for limits. */
export const wrongFiles = ['a row is broken', 'no header', 'two limits for one', 'no text'] as const

const makers: Record<Fault['kind'], (draws: Draws) => Fault> = {
  throttled: ({ pick, below }) => ({
    kind: 'throttled',
    endpoint: pick(lists),
    times: 1 + below(4),
    seconds: pick([1, 20, 300]),
  }),
  'server errors': ({ pick, below }) => ({ kind: 'server errors', endpoint: pick(lists), times: 1 + below(3) }),
  'page token expires': ({ pick }) => ({
    kind: 'page token expires',
    endpoint: pick(['listSessions', 'listUsers'] as const),
  }),
  'reply lost': (draws) => ({ kind: 'reply lost', ...strikeOf(draws) }),
  'killed before a call': (draws) => ({ kind: 'killed before a call', ...strikeOf(draws) }),
  'killed after a call': (draws) => ({ kind: 'killed after a call', ...strikeOf(draws) }),
  'stalled past the lease': ({ pick, unit }) => ({
    kind: 'stalled past the lease',
    job: pick(['night', 'night', 'settings'] as const),
    at: unit(),
  }),
  'little time': ({ pick }) => ({ kind: 'little time', seconds: pick([6, 8, 15]) }),
  'platform key rotated in the night': ({ unit }) => ({ kind: 'platform key rotated in the night', at: unit() }),
  'redaction key rotated': () => ({ kind: 'redaction key rotated' }),
  'signing key rotated': () => ({ kind: 'signing key rotated' }),
  'broken night': () => ({ kind: 'broken night' }),
  'wrong file': ({ pick }) => ({ kind: 'wrong file', how: pick(wrongFiles) }),
  'field of tomorrow': ({ pick }) => ({
    kind: 'field of tomorrow',
    list: pick(['sessions', 'users', 'computers', 'reports'] as const),
  }),
  'publish fails': ({ pick }) => ({
    kind: 'publish fails',
    place: pick(['iceberg/', 'manifests/', 'changes/'] as const),
  }),
  'message comes twice': () => ({ kind: 'message comes twice' }),
}

/** All kinds of faults. */
export const faultKinds = Object.keys(makers) as Fault['kind'][]

/** Rather early than late: a night of few changes has fewer calls than the one that it is judged by. */
function strikeOf({ pick, unit }: Draws): Strike {
  return { job: pick(['night', 'night', 'night', ...jobs]), at: unit() ** 2 }
}

/** What a night brings: faults, and what people do. */
export type Plan = {
  night: number
  /** Whether the night reads the messages of sessions, too. */
  messages: boolean
  faults: Fault[]
  /** Nothing happens on the platform, nobody sends anything: what the installation does by itself is counted. */
  idle: boolean
  /** Whether records change, appear and go. */
  lively: boolean
  /** Files with limits that are dropped in the day, by how many people each names. */
  files: number[]
  /** Deliveries of hook events; a negative number repeats the last one. */
  deliveries: number[]
}

/** A day without faults that shows whether an idle night costs what it always did. */
export const idleEvery = 5

/** How many nights, the seed from which everything follows, and whether messages are read once a week only and less happens. */
export type SoakLength = { nights: number; seed: number; light?: boolean }

const messagesEvery = 7

/**
 * The plans of all nights, from 1. Faults are dealt from a shuffled deck, so that a month sees each kind: none, one or
 * two a night. The first night and idle ones have none.
 */
export function plansOf({ seed, nights, light = false }: SoakLength): Plan[] {
  let deck: Fault['kind'][] = []
  let decks = 0
  const dealt = (): Fault['kind'] => {
    if (deck.length === 0) deck = shuffled(faultKinds, drawsOf(seed, ++decks, 'deck'))
    return deck.pop()!
  }
  return Array.from({ length: nights }, (_, at) => {
    const night = at + 1
    const draws = drawsOf(seed, night, 'plan')
    const idle = night % idleEvery === 0
    const cards = night === 1 || idle ? 0 : draws.pick([0, 1, 1, 1, 2, 2])
    const faults = Array.from({ length: cards }, () => makers[dealt()](draws))
    const strikes = (...some: Job[]) => faults.some((fault) => 'job' in fault && some.includes(fault.job))
    const delivers = () => (draws.happens(0.2) ? -1 : 1 + draws.below(4))
    const deliveries = draws.below(3) + (strikes('hooks') ? 1 : 0)
    return {
      ...{ night, idle, faults },
      messages: !light || (!idle && night % messagesEvery === 1),
      lively: !idle && draws.happens(light ? 0.3 : 0.5),
      files: strikes('import', 'apply') || (!idle && draws.happens(0.4)) ? [1 + draws.below(6)] : [],
      deliveries: idle ? [] : Array.from({ length: deliveries }, delivers),
    }
  })
}

function shuffled<T>(items: readonly T[], { below }: Draws): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(below(rest.length), 1)[0]!)
}

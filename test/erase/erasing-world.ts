import { gzipSync } from 'node:zlib'
import type { Log } from '../../lib/core/log.ts'
import type { EraseDeps, Item } from '../../lib/erase/ports.ts'
import { createTableRemaker } from '../../lib/publish/iceberg/remake.ts'
import { contents } from '../../lib/stores/erase-contents.ts'
import { createChangeableLists } from '../../lib/stores/erase-lists.ts'
import { createFolderPointers } from '../../lib/stores/table-pointers.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import type { Checkpoint } from '../../lib/sync/checkpoint.ts'
import type { Checkpoints } from '../../lib/sync/ports.ts'
import { createTablesWorld } from '../support/tables/tables-world.ts'
import { session, user } from '../sync/support/source.ts'
import { bucketOver, type Death, itemsOver, type Kept, keep, nothingKept } from './kept.ts'

/** Whom these tests erase. */
export const ada = { address: 'ada@example.com', written: 'ada@example.com', others: ['ada-laptop'] }

/** How she is written here and there. An address of another person ends as hers does. */
const traces = [/(?<!gran)ada(?:@|%40)example\.com/i, /user-ada/, /Lovelace/, /ada-laptop/]

/** The traces of her that a text holds. */
export function tracesIn(text: string): string[] {
  return traces.filter((trace) => trace.test(text)).map(String)
}

const ours = [user(1, { firstName: 'Grace', lastName: 'Hopper' }), user(2, { email: 'granada@example.com' })]
const me = user('x', { id: 'user-ada', email: 'ADA@example.com', firstName: 'Ada', lastName: 'Lovelace' })
const revision = {
  revision: 1,
  updatedAt: '2026-11-01T00:00:00Z',
  settings: { managedComputersAllowedEmails: ['ada@example.com', 'u1@example.com'] },
  user: { id: 'user-ada', email: 'ada@example.com', name: 'Ada Lovelace' },
}
const titled = [
  session(1, { title: 'for ada@example.com by "Ada Lovelace"' }),
  session(2, { title: 'granada@example.com' }),
]

/** What two nights left, in the second of which she was gone from the platform. She left traces everywhere. */
export async function afterTwoNights() {
  const kept = nothingKept()
  const world = createTablesWorld({ objects: bucketOver('lake', kept.lake) })
  await world.night([
    [organizationUsers, [...ours, me, { id: 7, email: 'ada@example.com', lastName: 'Lovelace' }]],
    [enterpriseControlRevisions, [revision]],
    [sessions, titled],
  ])
  await world.night([[organizationUsers, ours]])
  const [lake, inbox] = [bucketOver('lake', kept.lake), bucketOver('inbox', kept.inbox)]
  await lake.put('hooks/dt=2026-11-01/a.ndjson.gz', gzipSync('{"eventId":"e","host":"ada-laptop"}\n{"eventId":"f"}\n'))
  await lake.put('bodies/sessions/0/1.json.gz', gzipSync('{"title":"ask ada%40example.com"}'))
  await inbox.put('done/limits.csv', Buffer.from('email,limit\nada@example.com,5\nu1@example.com,6\n'))
  const members = { 'ada@example.com': { address: 'ADA@example.com' }, 'u1@example.com': { address: 'u1@example.com' } }
  const memory = { members, reassertedOn: null, sent: null, settled: null }
  await inbox.put('policy-plans/memory.json', Buffer.from(JSON.stringify(memory)))
  keep(kept.limits, ledger)
  for (const { name } of [organizationUsers, enterpriseControlRevisions, sessions]) {
    for (const { key, deletedAt, ...rest } of world.records.all(name).values())
      keep(kept.records, [{ pk: `${name}#${key}`, ...rest, ...(deletedAt === null ? {} : { deletedAt }) }])
  }
  return { kept, world }
}

const ledger: Item[] = [
  { pk: 'email#ada@example.com', sk: 'state', body: '{"identity":"ada@example.com"}' },
  { pk: 'email#ada@example.com', sk: 'outcome#1', body: '{"identity":"ada@example.com"}' },
  {
    pk: 'email#u1@example.com',
    sk: 'outcome#1',
    body: '{"identity":"u1@example.com","requestedBy":"Ada@example.com"}',
  },
  { pk: 'log#2026-11', sk: '1', body: '[["ada@example.com","1","applied"],["u1@example.com","1","applied"]]' },
]

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

type World = ReturnType<typeof createTablesWorld>

/** What erasing works with over what is kept; in a process that dies where it is to. */
export function depsOver(kept: Kept, world: World, death?: Death): EraseDeps & { log: Log } {
  const [lake, inbox] = [bucketOver('lake', kept.lake, death), bucketOver('inbox', kept.inbox, death)]
  const lists = createChangeableLists(lake)
  const pointers = createFolderPointers({ objects: lake, address: 'memory://lake' })
  const iceberg = world.icebergDeps({ files: lake, pointers, history: lists.readFiles })
  let owners = 0
  return {
    ...{ lake, inbox, lists, contents, tables: createTableRemaker(iceberg), audit: null, log: quiet },
    savedPlans: bucketOver('plans', nothingKept().lake),
    limits: itemsOver(kept.limits, death),
    records: itemsOver(kept.records, death),
    state: itemsOver(new Map()),
    publications: world.publications,
    checkpoints: { ...world.checkpoints, look: () => lookAt(iceberg.streams, world.checkpoints) },
    streams: iceberg.streams,
    fingerprint: () => '0123456789abcdef',
    hashedForm: () => 'hashed:hmac-sha256:00000000000000ad:15',
    clock: world.clock,
    newOwner: () => `eraser ${++owners}`,
    leaseMs: 60_000,
  }
}

/** How streams stand of which nobody reads one. */
async function lookAt(streams: readonly { name: string }[], { read }: Pick<Checkpoints, 'read'>) {
  const found = new Map<string, Checkpoint | null>()
  for (const { name } of streams) found.set(name, await read(name))
  return (stream: string) => ({ checkpoint: found.get(stream) ?? null, holder: null })
}

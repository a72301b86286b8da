import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import type { Log } from '../../lib/core/log.ts'
import { createFinder } from '../../lib/erase/person.ts'
import type { Bucket, EraseDeps, Item, Items, OldVersion } from '../../lib/erase/ports.ts'
import { createTableRemaker } from '../../lib/publish/iceberg/remake.ts'
import { contents } from '../../lib/stores/erase-contents.ts'
import { createChangeableLists } from '../../lib/stores/erase-lists.ts'
import { textRows } from '../../lib/stores/erase-rows.ts'
import { createFolderPointers } from '../../lib/stores/table-pointers.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { createTablesWorld } from '../support/tables/tables-world.ts'
import { session, user } from '../sync/support/source.ts'

/** Whom these tests erase, and how they are written here and there. */
export const ada = { address: 'ada@example.com', others: ['ada-laptop'] }
export const traces = ['ada@example.com', 'ADA@example.com', 'ada%40example.com', 'user-ada', 'Lovelace', 'ada-laptop']

/** A bucket in memory that keeps versions; `fateful` wraps each write. */
export function versionedBucket(name: string) {
  const objects = createMemoryObjects(name)
  const old = new Map<string, { version: OldVersion; bytes: Uint8Array }>()
  let versions = 0
  const keep = async (key: string) => {
    const bytes = await objects.get(key)
    const version = { key, version: `${++versions}` }
    if (bytes) old.set(version.version, { version, bytes })
  }
  const bucket: Bucket = {
    ...objects,
    put: async (key, bytes, options) => {
      await keep(key)
      await objects.put(key, bytes, options)
    },
    replace: async (key, change, options) => {
      await keep(key)
      await objects.replace(key, change, options)
    },
    remove: async (keys) => {
      for (const key of keys) await keep(key)
      await objects.remove(keys)
    },
    oldVersions: async function* () {
      for (const { version } of [...old.values()]) yield version
    },
    getVersion: async ({ version }) => old.get(version)?.bytes ?? null,
    removeVersions: async (some) => {
      for (const { version } of some) old.delete(version)
    },
  }
  return bucket
}

function itemsOver(stored: Map<string, Item>): Items {
  const nameOf = ({ pk, sk }: Item) => `${pk} ${sk}`
  return {
    all: async function* () {
      for (const item of [...stored.values()]) yield structuredClone(item)
    },
    change: async (before, after) => {
      const same = JSON.stringify(stored.get(nameOf(before))) === JSON.stringify(before)
      if (same) stored.set(nameOf(before), after)
      return same
    },
    remove: async (item) => void stored.delete(nameOf(item)),
  }
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** An installation over some nights in which Ada left traces everywhere; she is gone from the platform since the last one. */
export async function erasingWorld() {
  const lake = versionedBucket('lake')
  const inbox = versionedBucket('inbox')
  const world = createTablesWorld({ objects: lake })
  const others = [user(1, { firstName: 'Grace', lastName: 'Hopper' }), user(2, { email: 'granada@example.com' })]
  const author = { id: 'user-ada', email: 'ada@example.com', name: 'Ada Lovelace' }
  const revision = {
    revision: 1,
    updatedAt: '2026-11-01T00:00:00Z',
    settings: { managedComputersAllowedEmails: ['ada@example.com', 'u1@example.com'] },
    user: author,
  }
  const me = user('x', { id: 'user-ada', email: 'ADA@example.com', firstName: 'Ada', lastName: 'Lovelace' })
  const broken = { id: 7, email: 'ada@example.com', lastName: 'Lovelace' }
  const titled = [
    session(1, { title: 'for ada@example.com by "Ada Lovelace"' }),
    session(2, { title: 'about granada@example.com' }),
  ]
  await world.night([
    [organizationUsers, [...others, me, broken]],
    [enterpriseControlRevisions, [revision]],
    [sessions, titled],
  ])
  await world.night([[organizationUsers, [...others, { ...me, lastName: 'King Lovelace' }]]])
  await world.night([[organizationUsers, others]])
  await lake.put(
    'hooks/dt=2026-11-01/20261101T000000000Z-a.ndjson.gz',
    gzipSync('{"eventId":"e","host":"ada-laptop"}\n'),
  )
  await lake.put('bodies/sessions/0/1.json.gz', gzipSync('{"title":"ask ada%40example.com"}'))
  await inbox.put('done/limits.csv', Buffer.from('email,limit\nada@example.com,5\nu1@example.com,6\n'))
  const members = { 'ada@example.com': { address: 'ADA@example.com' }, 'u1@example.com': { address: 'u1@example.com' } }
  await inbox.put(
    'policy-plans/memory.json',
    Buffer.from(JSON.stringify({ members, reassertedOn: null, sent: null, settled: null })),
  )
  const limits = new Map<string, Item>()
  for (const item of ledger) limits.set(`${item.pk} ${item.sk}`, item)
  const records = new Map<string, Item>()
  for (const { name } of [organizationUsers, enterpriseControlRevisions, sessions]) {
    for (const { key, deletedAt, ...rest } of world.records.all(name).values()) {
      const item = { pk: `${name}#${key}`, ...rest, ...(deletedAt === null ? {} : { deletedAt }) }
      records.set(`${item.pk} undefined`, item)
    }
  }
  const deps = depsOf({
    world,
    lake,
    inbox,
    limits: itemsOver(limits),
    records: itemsOver(records),
    state: itemsOver(new Map()),
  })
  return { world, lake, inbox, limits, records, deps }
}

const outcome = JSON.stringify({ identity: 'u1@example.com', requestedBy: 'Ada@example.com' })
const ledger: Item[] = [
  { pk: 'email#ada@example.com', sk: 'state', body: '{"identity":"ada@example.com"}' },
  { pk: 'email#ada@example.com', sk: 'outcome#1', body: '{"identity":"ada@example.com"}' },
  { pk: 'email#u1@example.com', sk: 'outcome#1', body: outcome },
  { pk: 'log#2026-11', sk: '1', body: '[["ada@example.com","1","applied"],["u1@example.com","1","applied"]]' },
]

type Stores = Pick<EraseDeps, 'lake' | 'limits' | 'records' | 'state'> & { inbox: Bucket }

/** What erasing works with in such a world, over stores that may be others. */
export function depsOf({
  world,
  ...stores
}: Stores & { world: ReturnType<typeof createTablesWorld> }): EraseDeps & { log: Log } {
  const lists = createChangeableLists(stores.lake)
  const pointers = createFolderPointers({ objects: stores.lake, address: 'memory://lake' })
  const iceberg = world.icebergDeps({ files: stores.lake, pointers, history: lists.readFiles })
  return {
    ...stores,
    ...{ lists, contents, tables: createTableRemaker(iceberg), audit: null, log: quiet },
    publications: world.publications,
    checkpoints: { ...world.checkpoints, holder: async () => null },
    streams: iceberg.streams,
    fingerprint: () => '0123456789abcdef',
    hashedForms: () => [],
    clock: world.clock,
    newOwner: () => 'eraser',
    leaseMs: 60_000,
  }
}

type Kept = Pick<Awaited<ReturnType<typeof erasingWorld>>, 'lake' | 'inbox' | 'limits' | 'records'>

/** Everything that is kept, as text: objects as they are and unpacked, with their old versions, and items. */
export async function everythingKept({ lake, inbox, limits, records }: Kept): Promise<string> {
  const texts = [JSON.stringify([...limits]), JSON.stringify([...records])]
  for (const bucket of [lake, inbox]) {
    for (const key of await bucket.list('')) texts.push(key, await textOf(key, await bucket.get(key)))
    for await (const version of bucket.oldVersions())
      texts.push(await textOf(version.key, await bucket.getVersion(version)))
  }
  return texts.join('\n')
}

async function textOf(key: string, bytes: Uint8Array | null): Promise<string> {
  const body = Buffer.from(bytes ?? [])
  const texts = [body.toString('latin1')]
  if (key.endsWith('.gz')) texts.push(gunzipSync(body).toString())
  if (key.endsWith('.avro')) texts.push(avroText(body))
  if (key.endsWith('.parquet')) for await (const row of textRows(body)) texts.push(JSON.stringify(row))
  return texts.join('\n')
}

/** The one block of an Avro file, unpacked: it lies between two marks of 16 bytes, after two numbers. */
function avroText(body: Buffer): string {
  const mark = body.subarray(-16)
  const start = body.indexOf(mark) + 16
  for (let skipped = 2; skipped < 12; skipped++) {
    try {
      return inflateRawSync(body.subarray(start + skipped, -16)).toString('latin1')
    } catch {
      // The numbers before the block are as long as they are: the next beginning is tried.
    }
  }
  return ''
}

/** The traces of Ada that a text holds. */
export function tracesIn(text: string): string[] {
  const finder = createFinder({
    addresses: ['ada@example.com'],
    ids: [],
    names: [],
    nameParts: [],
    others: [],
    fingerprints: [],
  })
  const found = traces.filter((trace) => (trace.endsWith('example.com') ? false : text.includes(trace)))
  return finder.isIn(text) ? [...found, 'ada@example.com'] : found
}

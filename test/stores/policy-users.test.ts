import { expect, it } from 'vitest'
import { createUsersSource } from '../../lib/stores/policy-users.ts'
import { newCheckpoint, type ScanSummary } from '../../lib/sync/checkpoint.ts'
import { encodeIndex } from '../../lib/sync/index-format.ts'
import { Kind } from '../../lib/sync/key-table.ts'

const scan = { scanId: 's1', status: 'complete', reason: null } as unknown as ScanSummary

type World = {
  scan?: ScanSummary | null
  unpublished?: ScanSummary[]
  bodies?: Record<string, unknown>
  deleted?: string[]
}

/** The users that a policy sees after a scan whose index has these keys. */
function users(keys: string[] | null, world: World = {}) {
  const { bodies = {}, unpublished = [], deleted = [] } = world
  const entries = (keys ?? []).map((key) => ({
    key,
    hash: Buffer.alloc(16),
    bytes: Buffer.alloc(16),
    changedAt: 0,
    kind: Kind.unchanged,
    isOdd: false,
    pass: 0,
  }))
  const bytes = encodeIndex({ pass: 0, tokens: [], files: [] }, { count: entries.length, each: () => entries })
  const lastScan = world.scan === undefined ? scan : world.scan
  return createUsersSource({
    checkpoints: {
      read: async (stream) => ({ ...newCheckpoint(stream), lastScan, index: { key: 'i', entries: entries.length } }),
      unpublished: async () => unpublished,
    },
    index: { readIndex: async () => (keys === null ? null : bytes) },
    records: async (_stream, wanted) =>
      wanted.flatMap((key) => {
        const stored = { key, hash: '', firstSeenAt: 0, changedAt: 0, deletedAt: deleted.includes(key) ? 1 : null }
        return key in bodies ? [{ ...stored, body: JSON.stringify(bodies[key]) }] : []
      }),
  }).newest()
}

async function read(...given: Parameters<typeof users>) {
  const found = await users(...given)
  if ('unusable' in found) throw new Error(found.unusable)
  return found.read()
}

it('are those of the last scan that have an address, with their metadata', async () => {
  const bodies = {
    u1: { email: 'Bob@x.io', metadata: { department: 'eng' } },
    u2: { email: 'ana@x.io', metadata: null },
    u3: { email: null },
    u4: { email: 'gone@x.io' },
  }
  expect(await read(['u1', 'u2', 'u3', 'u4'], { bodies, deleted: ['u4'] })).toEqual([
    { identity: 'ana@x.io', address: 'ana@x.io', metadata: {} },
    { identity: 'bob@x.io', address: 'Bob@x.io', metadata: { department: 'eng' } },
  ])
})

it.each([
  ['never synced', { scan: null }],
  ['is suspect', { scan: { ...scan, status: 'suspect' as const } }],
  ['is not published yet', { unpublished: [scan] }],
])('are none to go by where the list %s', async (why, world) => {
  expect(await users(['u1'], world)).toEqual({ unusable: expect.stringContaining(why) })
})

it('are never fewer than the scan listed: nobody is taken for a leaver because a record or the index is missing', async () => {
  await expect(read(['u1', 'u2'], { bodies: { u1: { email: 'a@x.io' } } })).rejects.toThrow('lacks 1 of 2 records')
  await expect(read(null)).rejects.toThrow('replaced or is missing')
})

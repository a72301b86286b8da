import { expect, it } from 'vitest'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { shardsOf } from '../../lib/streams/shards.ts'
import { syncStream } from '../../lib/sync/sync-stream.ts'
import { createConversations } from '../sync/support/conversations.ts'
import { mortal } from '../sync/support/mortal.ts'
import { listOf, user } from '../sync/support/source.ts'
import { createWorld } from '../sync/support/world.ts'

const shards = shardsOf(sessionMessages, 4)

function begin() {
  const platform = createConversations()
  for (let n = 0; n < 16; n++) platform.talk(`s${n}`, 2)
  const world = createWorld()
  const read = async (runId: string) => {
    await world.sync(sessions, platform.source)
    for (const shard of shards) await world.sync(shard, platform.source, { runId })
  }
  return { platform, world, read }
}

it('puts the scans of all shards of a run into one manifest, and their rows into one file of each table', async () => {
  const { platform, world, read } = begin()
  await read('run')
  const { scans } = await world.publish([...shards], 'run')
  expect(scans.map(({ stream }) => stream)).toEqual(shards.map(({ name }) => name))
  const keys = scans.flatMap(({ files }) => files.map(({ key }) => key))
  expect(new Set(keys).size).toBe(keys.length)
  // Their parts are merged: one file for each table.
  expect(keys.map((key) => key.split('/')[1])).toEqual(['session_messages', 'message_blocks'])
  expect([...world.current(sessionMessages).keys()].sort()).toEqual(platform.keys())
  const rows = world.lake.publishedRows('session_messages')
  expect(new Set(rows.map(({ _scan_id }) => _scan_id)).size).toBe(4)
})

it('leaves out what brought nothing, and removes what a dead worker of one shard left and nothing of the others', async () => {
  const { platform, world, read } = begin()
  await read('run')
  await world.publish([...shards], 'run')
  platform.change('s0', (messages) => messages.slice(1))
  await world.sync(sessions, platform.source)
  const [changed] = shards.filter(({ parent }) => parent?.owns?.('s0'))
  const dying = mortal(world.deps(platform.source), { call: 11, what: 'dies after' })
  await syncStream(changed!, { runId: 'next', scheduledAt: 0 }, dying.deps).catch(() => {})
  expect(dying.isDead()).toBe(true)
  world.clock.advance(600_000)
  await read('next')
  const { scans } = await world.publish([...shards], 'next')
  expect(scans.map(({ stream }) => stream)).toEqual([changed!.name])
  const listed = [...world.lake.manifests.values()].flatMap((manifest) => manifest.scans.flatMap(({ files }) => files))
  const isMessages = (key: string) => key.startsWith('changes/session_messages/')
  expect([...world.lake.files.keys()].filter(isMessages).sort()).toEqual(
    listed
      .map(({ key }) => key)
      .filter(isMessages)
      .sort(),
  )
  expect([...world.current(sessionMessages).keys()].sort()).toEqual(platform.keys())
})

it('of more scans than one note of them holds goes on until none waits', async () => {
  const world = createWorld()
  for (let n = 0; n < 130; n++) await world.sync(organizationUsers, listOf([user(1, { firstName: `v${n}` })]))
  const { scans } = await world.publish([organizationUsers], 'run')
  expect(scans).toHaveLength(130)
  expect(await world.checkpoints.unpublished(organizationUsers.name)).toEqual([])
})

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { platformStreams } from '../../lib/streams/index.ts'
import { temporaryFolder } from '../cli/cli.ts'
import { readLeftFolder, type ShownPlatform, sessionPages, showLists } from '../support/worlds/left-behind.ts'
import { type Account, createAccount } from './emulator.ts'
import { type Installation, installationIn } from './installation.ts'
import { moveIn, olderStacks, resourcesOf } from './older.ts'
import { adaptTo, bootstrap, deploy, synthesize } from './stacks.ts'

const acme = 'acme'
const [stateful, stateless] = [`${acme}-stateful`, `${acme}-stateless`]
const streams = platformStreams.map(({ name }) => name)
const work = temporaryFolder()
const [older, today, data] = ['older', 'today', 'data'].map((name) => join(work.path, name)) as [string, string, string]
const { lists, putInto } = readLeftFolder()
let platform: ShownPlatform
let account: Account
let installation: Installation
/** The stateful stack as the older version deployed it. */
let resources: Map<string, string>

/** Everything that a night may write anew of what stands. */
async function held() {
  const records = await Promise.all(streams.map((stream) => installation.records(stream)))
  const changes = await Promise.all(streams.map((stream) => installation.list('lake', `changes/${stream}/`)))
  const entries = await installation.list('audit', 'audit/entries/')
  return { records: records.map((some) => some.toSorted((a, b) => (a.key < b.key ? -1 : 1))), changes, entries }
}

beforeAll(async () => {
  platform = await showLists(lists)
  account = await createAccount()
  await account.start({ enforced: false })
  await synthesize(today, acme)
  olderStacks(older, { today, installation: acme })
  const addresses = { appUrl: platform.address, baseUrl: platform.address }
  for (const outdir of [older, today]) adaptTo(outdir, acme, addresses)
  await bootstrap(account, older)
  await deploy(account, older)
  resources = await resourcesOf(account, stateful)
  installation = installationIn(account, acme)
  await installation.putApiKey('key-of-the-organization')
  putInto(data)
  await moveIn(data, account, acme)
})
afterAll(async () => {
  installation?.close()
  await account?.remove()
  platform?.close()
  work.remove()
})

describe('stacks that version 0.1.0 deployed', () => {
  it('are upgraded, the stateful one first: nothing of it is replaced, and what it holds stays', async () => {
    const before = await held()
    expect(before.records.map(({ length }) => length)).toContain(lists.sessions.length)
    await deploy(account, today, [stateful, '--exclusively'])
    await deploy(account, today, [stateless, '--exclusively'])
    const now = await resourcesOf(account, stateful)
    expect([...resources].filter(([id, physical]) => now.get(id) !== physical)).toEqual([])
    expect(now.size).toBeGreaterThan(resources.size)
    expect(await held()).toEqual(before)
  })

  it('go on in the night after: the broken scan where it stopped, and nothing that stands is written anew', async () => {
    await account.start({ enforced: true })
    const before = await held()
    await installation.night('2026-12-01T02:00:00Z', streams)
    expect(sessionPages(platform)).toEqual(['20', '30'])
    expect(await held()).toEqual(before)
  })

  it('take in what changes after that, and that alone', async () => {
    const before = await held()
    lists.sessions[0] = { ...lists.sessions[0], title: 'after the upgrade', updatedAt: Date.now() }
    await installation.night('2026-12-02T02:00:00Z', streams)
    const known = new Set(before.records.flat().map((record) => JSON.stringify(record)))
    const changed = (await held()).records.flat().filter((record) => !known.has(JSON.stringify(record)))
    expect(changed.map(({ body }) => JSON.parse(body).title)).toEqual(['after the upgrade'])
  })
})

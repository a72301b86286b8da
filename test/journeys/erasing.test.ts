import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { paginateScan } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { cliHere, temporaryFolder } from '../cli/cli.ts'
import { localClients } from '../stores/clients.ts'
import { everythingIn } from '../support/worlds/everything.ts'
import { type Item, nothing } from '../support/worlds/storage.ts'

const folder = temporaryFolder()
const data = join(folder.path, 'data')
const eve = { id: 'user-eve-4711', email: 'Eve.Kern@example.com', firstName: 'Eve', lastName: 'Kernighan' }
const traces = [/eve\.kern(@|%40)example/i, /user-eve-4711/, /Kernighan/, /eves-laptop/]
let simulator: Simulator

beforeAll(async () => {
  simulator = await startSimulator({ counts: { users: 5, sessions: 5, reports: 2, revisions: 2, computers: 2 } })
  const value = (id: string, record: object) => ({ value: { id, ...record } })
  simulator.put('users', eve.id, { value: eve })
  simulator.put('users', 'broken', { value: { id: 5, email: eve.email, lastName: 'Kernighan' } })
  simulator.put('computers', 'c-eve', value('c-eve', { hostname: 'eves-laptop', name: 'Eve Kernighan' }))
  const user = { id: eve.id, email: eve.email, name: 'Eve Kernighan' }
  simulator.put('revisions', '900', { value: { revision: 900, updatedAt: '2026-11-01T00:00:00Z', settings: {}, user } })
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

function cli(...args: string[]) {
  const { appUrl, baseUrl } = simulator
  const platform = { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl, PLATFORM_API_KEY: 'sim-key' }
  return cliHere([...args, `--local=${data}`], platform)
}

/** Works with the folder's stores while nobody else does. */
async function inStores<T>(
  work: (stores: ReturnType<typeof localClients> & { names: Record<string, string> }) => Promise<T>,
): Promise<T> {
  const emulators = await startEmulators({ dir: data })
  const clients = localClients(emulators.endpointUrl)
  try {
    return await work({ ...clients, names: emulators.environment })
  } finally {
    clients.destroy()
    await emulators.close()
  }
}

/** The traces in everything that is kept but the audit trail, which stays. */
function tracesLeft(): Promise<string[]> {
  return inStores(async ({ dynamodb, s3, names }) => {
    const items: Item[] = []
    for (const name of ['STATE_TABLE', 'RECORDS_TABLE', 'LIMITS_TABLE', 'HOOKS_TABLE']) {
      const pages = paginateScan({ client: dynamodb }, { TableName: names[name] })
      for await (const { Items = [] } of pages) items.push(...Items)
    }
    const objects = new Map<string, Buffer>()
    for (const name of ['LAKE_BUCKET', 'INBOX_BUCKET']) {
      const store = createObjectStore({ s3, bucket: names[name] ?? '' })
      for (const key of await store.list('')) objects.set(`${name}/${key}`, Buffer.from((await store.get(key)) ?? []))
    }
    const all = await everythingIn({ ...nothing, records: items, objects })
    return traces.filter((trace) => trace.test(all)).map(String)
  })
}

describe('a person who left', () => {
  beforeAll(async () => {
    await cli('sync')
    const file = join(folder.path, 'limits.csv')
    writeFileSync(file, `email,limit\n${eve.email},5\n`)
    const plan = JSON.parse((await cli('limits', 'plan', file, '--json')).stdout)
    await cli('limits', 'apply', plan.id)
    await inStores(async ({ s3, names }) => {
      const event = { eventId: 'e-1', eventName: 'Stop', host: 'eves-laptop', occurredAt: '2026-11-01T00:00:00.000Z' }
      const times = { receivedAt: '2026-11-01T00:00:01.000Z', storedAt: '2026-11-01T00:00:02.000Z' }
      const lake = createObjectStore({ s3, bucket: names.LAKE_BUCKET ?? '' })
      const line = `${JSON.stringify({ ...event, ...times })}\n`
      await lake.put('hooks/dt=2026-11-01/20261101T000002000Z-a.ndjson.gz', gzipSync(line))
      const inbox = createObjectStore({ s3, bucket: names.INBOX_BUCKET ?? '' })
      await inbox.put('done/limits.csv', Buffer.from(`email,limit\n${eve.email},5\n`))
    })
    await cli('sync')
  })

  it('is not erased while the platform lists them', async () => {
    const { code, stderr } = await cli('erase', 'user', eve.email, '--yes')
    expect(code).toBe(2)
    expect(stderr).toContain('delete the user there')
  })

  it('is shown first, then erased to the last byte, and does not come back with the next sync', async () => {
    simulator.remove('users', eve.id)
    simulator.remove('users', 'broken')
    expect((await cli('sync')).code).toBe(0)
    expect(await tracesLeft()).toEqual(traces.map(String))
    const shown = await cli('erase', 'user', eve.email.toLowerCase(), '--also', 'eves-laptop')
    expect(shown.stdout).toContain(`user id ${eve.id}, "Eve Kernighan", "eves-laptop"`)
    expect(shown.stdout).toContain('Nothing was changed. Add --yes')
    const { code, stdout } = await cli('erase', 'user', eve.email, '--also', 'eves-laptop', '--yes')
    expect(stdout).toContain('The person is erased')
    expect(code).toBe(0)
    expect(await tracesLeft()).toEqual([])
    expect((await cli('sync')).code).toBe(0)
    expect(await tracesLeft()).toEqual([])
    const again = await cli('erase', 'user', eve.email, '--also', 'eves-laptop')
    expect(again.stdout).not.toMatch(/written anew|removed/)
  })

  it('is answered from the record, by the fingerprint alone', async () => {
    const { stdout } = await cli('erase', 'list', '--json')
    const [done] = JSON.parse(stdout)
    expect(done.places.map(({ place }: { place: string }) => place)).toEqual(
      expect.arrayContaining(['changes/organization_users', 'quarantine/organization_users', 'hooks', 'limits table']),
    )
    expect(traces.filter((trace) => trace.test(stdout))).toEqual([])
  })

  it('leaves tables that can be asked as before', async () => {
    const { stdout } = await cli('query', 'select hostname, name from computers_current order by id', '--format', 'csv')
    expect(stdout).toContain('erased,erased')
    const counted = await cli('query', 'select count(*) as n from credit_limit_outcomes', '--format', 'csv')
    expect(counted.stdout).toBe('n\n0\n')
  })
})

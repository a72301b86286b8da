import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import type { PlatformClient } from '../../../lib/platform/client.ts'
import { cursorPages, type Paging, singlePage, startAfterPages } from '../../../lib/platform/paging.ts'
import type { Endpoint } from '../../../lib/platform/transport.ts'
import { clientOf } from '../../platform/fixture.ts'
import { paths } from './ask.ts'

let sim: Simulator
let client: PlatformClient
beforeAll(async () => {
  sim = await startSimulator({ apiKey: 'key_live_ABC123', order: 'shuffled' })
  client = clientOf(sim.url)
})
afterAll(() => sim.close())

const lists: [keyof ReturnType<Simulator['state']>['records'], Endpoint['base'], Paging][] = [
  ['reports', 'app', startAfterPages('reports', 'reportId')],
  ['sessions', 'v0', cursorPages('sessions')],
  ['users', 'v0', cursorPages('users')],
  ['revisions', 'v0', cursorPages('changes')],
  ['computers', 'v0', singlePage('computers')],
]

it.each(lists)('is read whole by the paging of %s', async (name, base, paging) => {
  let received = 0
  for (let token: string | null = null, ended = false; !ended; ) {
    const page = paging.parse(await client.get({ base, path: paths[name] }, paging.query(token)))
    received += page.records.length
    ended = paging.endsWith(page, page.records.length)
    token = page.nextToken
  }
  expect(received).toBe(sim.state().records[name])
})

it('answers the client on every endpoint', async () => {
  const { computers } = await client.listComputers()
  const { users } = await client.listOrganizationUsers()
  const email = users[0]?.email as string
  await client.listReadinessReports({ limit: 5 })
  await client.listEnterpriseControlHistory({ limit: 5 })
  await client.listSessions({ limit: 5 })
  const { sessionId } = await client.createSession({ computerId: computers[0]?.id as string, cwd: '/work' })
  await client.updateSession(sessionId, { sessionSettings: { model: 'atlas-small' } })
  const { messageId } = await client.addMessage(sessionId, { text: 'hello' })
  expect(await client.getMessage({ sessionId, messageId })).toMatchObject({ role: 'user' })
  expect((await client.listMessages(sessionId)).messages).toHaveLength(1)
  expect(await client.getSession(sessionId)).toMatchObject({
    messageCount: 1,
    sessionSettings: { model: 'atlas-small' },
  })
  expect(await client.setUserCreditLimits([{ email, limit: 100 }])).toEqual({
    updated: [{ email, limit: 100 }],
    errors: [],
  })
  expect(Object.keys(sim.counts)).toHaveLength(12)
})

it('is waited for when it is busy, and gives up nothing', async () => {
  const fault = sim.fault({
    endpoint: 'listUsers',
    kind: 'status',
    status: 429,
    headers: { 'retry-after': '3' },
    times: 2,
  })
  expect((await client.listOrganizationUsers()).users).toHaveLength(20)
  expect(fault.hits()).toBe(2)
})

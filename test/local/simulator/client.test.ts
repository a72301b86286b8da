import { afterAll, beforeAll, expect, it } from 'vitest'
import { resourceNames } from '../../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import type { PlatformClient } from '../../../lib/platform/client.ts'
import { platformStreams } from '../../../lib/streams/index.ts'
import { clientOf } from '../../platform/fixture.ts'
import { paths } from './ask.ts'

let sim: Simulator
let client: PlatformClient
beforeAll(async () => {
  sim = await startSimulator({ apiKey: 'key_live_ABC123', order: 'shuffled' })
  client = clientOf(sim.url)
})
afterAll(() => sim.close())

it.each(platformStreams)('is read whole as $name says', async ({ reading }) => {
  let received = 0
  for (let token: string | null = null, ended = false; !ended; ) {
    const { endpoint, query } = reading.request({ token })
    const page = reading.parse(await client.get(endpoint, query))
    received += page.records.length
    ended = reading.endsWith(page, page.records.length)
    token = page.nextToken
  }
  const { path } = reading.request({ token: null }).endpoint
  expect(received).toBe(sim.state().records[resourceNames.find((name) => paths[name] === path)!])
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

import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, temporaryFolder } from './cli.ts'

let platform: Simulator
const folder = temporaryFolder()
beforeAll(async () => {
  platform = await startSimulator({ counts: { users: 250, computers: 3 } })
})
afterAll(async () => {
  await platform.close()
  folder.remove()
})

it('WAIT-01: a wait of 30 days ends its stream and no other, and later runs send no request before it is over', async () => {
  const variables = {
    PLATFORM_APP_URL: platform.appUrl,
    PLATFORM_BASE_URL: platform.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
  }
  const run = (...args: string[]) => cliHere([...args, '--local', join(folder.path, 'data'), '--json'], variables)
  const limit = { kind: 'status', endpoint: 'listUsers', status: 429, headers: { 'retry-after': '2592000' } } as const
  const fault = platform.fault({ ...limit, after: 1 })

  const began = Date.now()
  const first = await run('sync', 'organization_users', 'computers')
  expect(Date.now() - began).toBeLessThan(60_000)
  expect(first.code).toBe(3)
  const { streams, published } = JSON.parse(first.stdout)
  expect(streams).toMatchObject([
    { status: 'rate_limited', reason: expect.stringMatching(/no request is sent before \d{4}-\d\d-\d\dT/) },
    { status: 'complete' },
  ])
  expect(published).toMatchObject([{ stream: 'computers', records: 3 }])

  platform.removeFault(fault.id)
  const asked = platform.counts.listUsers
  expect((await run('sync', 'organization_users')).code).toBe(3)
  expect(platform.counts.listUsers).toBe(asked)
  const standing = JSON.parse((await run('status')).stdout).streams
  expect(standing).toContainEqual(
    expect.objectContaining({ stream: 'organization_users', status: 'rate_limited', reason: streams[0].reason }),
  )

  expect((await run('reset', 'organization_users')).code).toBe(0)
  expect((await run('sync', 'organization_users')).code).toBe(0)
}, 60_000)

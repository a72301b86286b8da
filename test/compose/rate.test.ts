import { expect, it } from 'vitest'
import { composeApply } from '../../lib/compose/limits-apply.ts'
import { composeSync } from '../../lib/compose/sync.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { localCredentials } from '../../lib/local/emulators/prepare.ts'
import { fakeClock } from '../platform/fixture.ts'
import { json, stubServer } from '../platform/stub-server.ts'
import { useEmulators } from '../stores/emulated.ts'

const emulated = useEmulators()

it('a worker of limits and one of streams share their rate and their waits by the state table', async () => {
  const limited = json({}, 429, { 'retry-after': '7' })
  const { url, seen } = await stubServer(limited, json({ updated: [], errors: [] }), json({ computers: [] }))
  const variables: Record<string, string> = {
    ...emulated().emulators.environment,
    ...{ PLATFORM_APP_URL: url, PLATFORM_BASE_URL: url, PLATFORM_API_KEY: 'key' },
    REDACTION_KEY: 'r'.repeat(32),
  }
  const runtime = { log: silentLog, metrics: noMetrics, credentials: localCredentials, clients: emulated() }
  const [ofLimits, ofStreams] = [fakeClock(), fakeClock()]

  const limits = composeApply(variables, { ...runtime, clock: ofLimits }).platform()
  await limits.setUserCreditLimits([{ email: 'ada@example.com', limit: 5 }])
  expect(ofLimits.sleeps).toEqual([7_000])

  const paced = { ...variables, PLATFORM_REQUESTS_PER_SECOND: '1' }
  const streams = composeSync(paced, { ...runtime, clock: ofStreams }).platform
  await streams.listComputers()
  // Its clock stands where the other one's stood when that one was told.
  expect(ofStreams.sleeps).toEqual([7_000])
  await streams.listComputers()
  expect(ofStreams.sleeps).toEqual([7_000, 1_000])
  expect(seen).toHaveLength(4)
})

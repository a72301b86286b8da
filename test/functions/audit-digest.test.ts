import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'

const dir = mkdtempSync(join(tmpdir(), 'audit-digest-'))
const context = { getRemainingTimeInMillis: () => 60_000 } as Context
let emulators: Emulators
let handler: (event: unknown, context: Context) => Promise<unknown>

beforeAll(async () => {
  emulators = await startEmulators({ dir })
  const platform = { PLATFORM_APP_URL: 'http://127.0.0.1:1', PLATFORM_BASE_URL: 'http://127.0.0.1:1' }
  const keys = { PLATFORM_API_KEY: 'unused', REDACTION_KEY: 'a key of the tests that is long enough to be one' }
  for (const [name, value] of Object.entries({ ...emulators.environment, ...platform, ...keys }))
    vi.stubEnv(name, value)
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true')
  handler = (await import('../../functions/audit-digest.ts')).handler
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await emulators.close()
  rmSync(dir, { recursive: true })
})

/** What EventBridge Scheduler sends when a schedule has no input of its own. */
const scheduled = {
  version: '0',
  id: '1c2d9c1e-5f4f-4b1e-8a53-0d2e5a6f9b10',
  'detail-type': 'Scheduled Event',
  source: 'aws.scheduler',
  account: '123456789012',
  time: '2026-01-05T04:00:00Z',
  region: 'eu-central-1',
  resources: ['arn:aws:scheduler:eu-central-1:123456789012:schedule/platform-sync-audit/audit-digest'],
  detail: '{}',
}

describe('the daily digest', () => {
  it.each([
    ['what a schedule sends', scheduled, '0 entries, 0 findings, 0 digests'],
    ['an empty object, by hand', {}, '0 entries, 0 findings, 1 digests'],
  ])('is written for %s', async (_, event, checked) => {
    expect(await handler(event, context)).toEqual({ checked, faults: 0, newFindings: 0 })
  })

  it.each([
    ['a list', ['x'], 'expected object'],
    ['a time that is no text', { ...scheduled, time: 5 }, 'expected string'],
  ])('is not written for %s', async (_, event, message) => {
    await expect(handler(event, context)).rejects.toThrow(message)
  })
})

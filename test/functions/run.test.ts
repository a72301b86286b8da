import type { Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

type Handler = (event: unknown, context: Context) => Promise<unknown>

const context = { functionName: 'sync-stream', awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60_000 } as Context
let syncStream: Handler
let publishRun: Handler

// Nobody is there to be asked: a malformed event must end before anything is.
const nowhere = {
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  STATE_TABLE: 'state',
  RECORDS_TABLE: 'records',
  LAKE_BUCKET: 'lake',
  PLATFORM_APP_URL: 'http://127.0.0.1:1',
  PLATFORM_BASE_URL: 'http://127.0.0.1:1',
  PLATFORM_API_KEY: 'key',
  REDACTION_KEY: 'a key of the tests that is long enough to be one',
}

beforeAll(async () => {
  for (const [name, value] of Object.entries(nowhere)) vi.stubEnv(name, value)
  syncStream = (await import('../../functions/sync-stream.ts')).handler
  publishRun = (await import('../../functions/publish-run.ts')).handler
})
afterAll(() => {
  vi.unstubAllEnvs()
})

const scheduled = { schedule: 'nightly', scheduledAt: '2026-11-28T02:00:00Z' }

describe('sync-stream', () => {
  it.each([
    ['stream', scheduled],
    ['schedule', { ...scheduled, schedule: 'Every Night', stream: 'sessions' }],
    ['scheduledAt', { ...scheduled, scheduledAt: 'yesterday', stream: 'sessions' }],
    ['the event', null],
  ])('refuses an event with a malformed %s in one sentence', async (field, event) => {
    await expect(syncStream(event, context)).rejects.toMatchObject({
      action: 'stop',
      message: expect.stringMatching(
        new RegExp(`^The event is not what the state machine sends \\(${field}: [^.\n]*$`),
      ),
    })
  })

  it('reads no stream as a whole that is read in shards', async () => {
    await expect(syncStream({ ...scheduled, stream: 'session_messages' }, context)).rejects.toThrow(
      'session_messages is read in shards: name those that are to be read, as session_messages/00.',
    )
  })

  it('names the streams there are when asked for another', async () => {
    await expect(syncStream({ ...scheduled, stream: 'no-such' }, context)).rejects.toThrow(
      'There is no stream "no-such". The streams are: readiness_reports',
    )
  })
})

describe('publish-run', () => {
  it.each([
    ['outcomes', scheduled],
    ['outcomes.0', { ...scheduled, outcomes: [{ stream: 'sessions' }] }],
    ['scheduledAt', { ...scheduled, scheduledAt: 1, outcomes: [] }],
    ['the event', 'nightly'],
  ])('refuses an event with a malformed %s in one sentence', async (field, event) => {
    await expect(publishRun(event, context)).rejects.toMatchObject({
      action: 'stop',
      message: expect.stringMatching(
        new RegExp(`^The event is not what the state machine sends \\(${field}: [^.\n]*$`),
      ),
    })
  })
})

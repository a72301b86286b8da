import type { Context } from 'aws-lambda'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLog } from '../../lib/core/log.ts'
import { pollOnce } from '../../lib/local/poller.ts'
import { createInbox } from '../../lib/stores/inbox.ts'
import { useEmulatedLimits } from '../limits/emulated.ts'
import { intent, type Platform, startPlatform } from '../limits/fixture.ts'

const limits = useEmulatedLimits()
const context = { functionName: 'limits', awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60_000 } as Context
let platform: Platform
let apply: (event: unknown, context: Context) => Promise<unknown>
let importFile: (event: unknown, context: Context) => Promise<void>

let environment: Record<string, string>

/** What a function finds in its environment; each test gives it back. */
function stubEnvironment() {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
}

beforeAll(async () => {
  platform = await startPlatform()
  const url = platform.simulator.url
  const variables = { PLATFORM_APP_URL: url, PLATFORM_BASE_URL: url, PLATFORM_API_KEY: 'sim-key' }
  const quiet = {
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_METRICS_NAMESPACE: 'Test',
  }
  environment = { ...limits().variables, ...variables, ...quiet }
  stubEnvironment()
  apply = (await import('../../functions/apply-credit-limits.ts')).handler
  importFile = (await import('../../functions/import-credit-limits.ts')).handler
})
beforeEach(stubEnvironment)
afterAll(async () => {
  await platform.simulator.close()
})

function record(messageId: string, fields: object = {}) {
  const body = JSON.stringify(intent({ [platform.users[0]!]: 7 }, { requestId: messageId }))
  return { messageId, receiptHandle: messageId, body, attributes: { ApproximateReceiveCount: '1' }, ...fields }
}

function notification(key: string) {
  return { time: '2026-05-06T10:00:00Z', detail: { object: { key }, requester: '123456789012' } }
}

describe('apply-credit-limits', () => {
  it('applies a record whose neighbour is malformed, and gives only the neighbour back', async () => {
    const Records = [record('bad', { body: null }), record('good')]
    expect(await apply({ Records }, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'bad' }] })
    expect(platform.simulator.limits.get(platform.users[0]!)).toBe(7)
  })

  it.each([[{}], [null], [{ Records: 'all' }], [{ records: [] }]])(
    'refuses the event %j in one sentence',
    async (event) => {
      await expect(apply(event, context)).rejects.toThrow(
        /^The event is not what .* sends \((Records|the event): [^.]*$/,
      )
    },
  )
})

describe('import-credit-limits', () => {
  it('imports the file that the notification names', async () => {
    const inbox = createInbox({ s3: limits().emulated.s3, bucket: limits().variables.INBOX_BUCKET ?? '' })
    const file = Buffer.from(`email,limit\n${platform.users[1]},8\n`)
    await inbox.put('limits.csv', file, { contentType: 'text/csv' })
    await importFile(notification('limits.csv'), context)
    expect(await inbox.get('limits.csv')).toBeNull()
    const bodies: string[] = []
    const handle = async (records: { body: string }[]) => {
      bodies.push(...records.map(({ body }) => body))
      return { batchItemFailures: [] }
    }
    await pollOnce({ sqs: limits().sqs, queueUrl: limits().queueUrl, handle, log: silentLog })
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([
      { requestedBy: '123456789012', limits: [{ email: platform.users[1], limit: 8 }] },
    ])
  })

  it('imports nothing when its rule fires by the clock: it only looks what waits', async () => {
    const inbox = createInbox({ s3: limits().emulated.s3, bucket: limits().variables.INBOX_BUCKET ?? '' })
    await inbox.put('waiting.csv', Buffer.from('email,limit\n'), { contentType: 'text/csv' })
    await importFile({ source: 'aws.events', time: '2026-05-06T10:00:00Z', detail: {} }, context)
    expect(await inbox.get('waiting.csv')).not.toBeNull()
    await inbox.remove(['waiting.csv'])
  })

  it.each([
    ['detail', { time: '2026-05-06T10:00:00Z' }],
    ['time', { ...notification('limits.csv'), time: 'yesterday' }],
    ['detail.object.key', notification('')],
    ['the event', undefined],
  ])('refuses an event with a malformed %s in one sentence', async (field, event) => {
    await expect(importFile(event, context)).rejects.toThrow(
      new RegExp(`^The event is not what .* sends \\(${field}: [^.]*$`),
    )
  })
})

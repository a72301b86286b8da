import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Context } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { silentLog } from '../../lib/core/log.ts'
import { pollOnce } from '../../lib/local/poller.ts'
import { createHookClaims } from '../../lib/stores/hook-claims.ts'
import { createHookObjects } from '../../lib/stores/hook-objects.ts'
import { createSqs } from '../../lib/stores/sqs.ts'
import { event as hookEvent, token } from '../hooks/collector/fixture.ts'
import { useEmulators } from '../stores/emulated.ts'

type Handler = (event: unknown, context: Context) => Promise<never>

const emulators = useEmulators()
const context = { functionName: 'hooks', awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60_000 } as Context
let collect: (event: unknown, context: Context) => Promise<{ statusCode?: number; body?: string }>
let store: (event: unknown, context: Context) => Promise<{ batchItemFailures: { itemIdentifier: string }[] }>

beforeAll(async () => {
  const quiet = {
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_METRICS_NAMESPACE: 'Test',
  }
  const own = { HOOKS_TOKENS: token, REDACTION_KEY: 'r'.repeat(32), HOOKS_CWD: 'dropped' }
  const variables = { ...emulators().emulators.environment, ...quiet, ...own }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  collect = (await import('../../functions/collect-hook-events.ts')).handler as Handler
  store = (await import('../../functions/store-hook-events.ts')).handler as Handler
})
afterAll(() => void vi.unstubAllEnvs())

/** A request as an HTTP API hands it over. */
function request(body: string | undefined, more: object = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { version: '2.0', headers, ...(body === undefined ? {} : { body }), isBase64Encoded: false, ...more }
}

describe('collect-hook-events and store-hook-events', () => {
  it('bring events from a request to the lake bucket, each once, and as the configuration says', async () => {
    const events = [hookEvent(), hookEvent()]
    const body = JSON.stringify({ events })
    const answer = await collect(request(body), context)
    expect(answer).toMatchObject({ statusCode: 202, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(answer.body ?? '')).toEqual({ accepted: events.map(({ id }) => id), refused: [] })
    const encoded = Buffer.from(body).toString('base64')
    expect((await collect(request(encoded, { isBase64Encoded: true }), context)).statusCode).toBe(202)

    const { endpointUrl, credentials, environment } = emulators().emulators
    const sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials })
    const queueUrl = environment.HOOKS_QUEUE_URL ?? ''
    const handle = (Records: unknown[]) => store({ Records }, context)
    const polled = { received: 0, failed: 0 }
    while (polled.received < 2) {
      const { received, failed } = await pollOnce({ sqs, queueUrl, handle, log: silentLog })
      polled.received += received
      polled.failed += failed
    }
    sqs.destroy()
    expect(polled).toEqual({ received: 2, failed: 0 })
    const keys = await emulators().lake.list('hooks/')
    const texts = await Promise.all(keys.map(async (key) => gunzipSync((await emulators().lake.get(key))!).toString()))
    const records = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line))
    expect(records.map(({ eventId }) => eventId).toSorted()).toEqual(events.map(({ id }) => id).toSorted())
    expect(records[0]).toMatchObject({ cwd: null, host: expect.stringMatching(/^hashed:/) })
  })

  it.each([
    [request(undefined), 400],
    [request('{}', { headers: {} }), 401],
    [request('{}', { headers: { authorization: 'Bearer x' } }), 401],
  ])('answer the request %j with %i', async (event, status) => {
    expect(await collect(event, context)).toMatchObject({ statusCode: status })
  })

  it('give back a message that is none, and no other', async () => {
    const Records = [{ messageId: 'odd', body: 'odd' }]
    expect(await store({ Records }, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'odd' }] })
  })

  it.each([[{}], [null], [{ Records: 'all' }], [{ body: '{}' }]])(
    'refuse the event %j in one sentence',
    async (event) => {
      const sentence = /^The event is not what .* sends \([^:]+: [^.]*$/
      await expect(collect(event, context)).rejects.toThrow(sentence)
      await expect(store(event, context)).rejects.toThrow(sentence)
    },
  )
})

describe('claims in the hooks table', () => {
  it('have one owner, whose claim can be replaced by whoever names it', async () => {
    const { dynamodb, emulators: started } = emulators()
    const { claim } = createHookClaims({ dynamodb, table: started.environment.HOOKS_TABLE ?? '' })
    const [id, until] = [randomUUID(), Date.now() + 1_000]
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ delivery: name, place: `hooks/${name}` }))
    expect(await claim(id, a!, { until })).toBeNull()
    expect(await claim(id, b!, { until })).toEqual(a)
    expect(await claim(id, c!, { until, instead: b! })).toEqual(a)
    expect(await claim(id, b!, { until, instead: a! })).toBeNull()
    expect(await claim(id, c!, { until })).toEqual(b)
  })
})

describe('collected objects in S3', () => {
  it('are listed after a place, in the order of their keys and in pages, with no other folder', async () => {
    const { s3, lake } = emulators()
    const objects = createHookObjects({ s3, bucket: lake.bucket })
    const keys = ['hooks/dt=2020-01-01/c', 'hooks/dt=2020-01-01/a', 'hooks/dt=2020-01-02/b']
    for (const key of [...keys, 'hooksx/a', 'index/a']) await objects.write(key, Buffer.from(key))
    expect(await objects.keysAfter('hooks/dt=2020-01-01/a', 1)).toEqual([keys[0]])
    expect((await objects.keysAfter('hooks/dt=2019-01-01/', 3)).slice(0, 3)).toEqual(keys.toSorted())
    expect(await objects.keysAfter('hooks/dt=2099', 3)).toEqual([])
    expect(Buffer.from((await objects.read('hooks/dt=2020-01-02/b')) ?? []).toString()).toBe('hooks/dt=2020-01-02/b')
    expect(await objects.read('hooks/none')).toBeNull()
  })
})

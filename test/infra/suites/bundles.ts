import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeRun } from '../../../lib/compose/run.ts'
import { noDeadline } from '../../../lib/core/deadline.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { finishRun } from '../../../lib/publish/finish-run.ts'
import { streamNamed } from '../../../lib/streams/index.ts'
import { runOf } from '../../../lib/sync/scheduled-run.ts'
import { syncStream } from '../../../lib/sync/sync-stream.ts'
import { assetOf, type Bundle, bundledInstallation, startBundle } from '../bundle.ts'
import { type Cloud, startCloud } from '../cloud.ts'
import { redactionKey } from '../stand-ins.ts'
import type { Synthesized } from '../synthesized.ts'

let template: Synthesized
let cloud: Cloud
let laptop: Cloud
const started: Bundle[] = []
const functions = [
  ...['sync-stream', 'publish-run', 'apply-credit-limits', 'import-credit-limits', 'audit-digest'],
  ...['collect-hook-events', 'store-hook-events', 'apply-credit-policy', 'write-report'],
]
/** Drawing takes a library and a document to draw in; nobody waits for a page. */
const megabytes: Record<string, number> = { 'write-report': 2 }
const occasion = { schedule: 'nightly', scheduledAt: '2026-11-28T02:00:00Z' }
const counts = { sessions: 1_000, users: 50, reports: 10, revisions: 5, computers: 3 }

function useInstallation() {
  beforeAll(async () => {
    template = bundledInstallation()
    cloud = await startCloud(template, { counts, seed: 7 })
    laptop = await startCloud(template, { counts, seed: 7 })
  })

  afterAll(async () => {
    for (const bundle of started) bundle.stop()
    await cloud?.close()
    await laptop?.close()
  })
}

function start(name: string): Bundle {
  const bundle = startBundle(template, name, cloud.environmentOf(name))
  started.push(bundle)
  return bundle
}

async function syncOnLaptop() {
  const { emulators, platform } = laptop
  const keys = { PLATFORM_API_KEY: 'sim-key', REDACTION_KEY: redactionKey }
  const addresses = { PLATFORM_APP_URL: platform.appUrl, PLATFORM_BASE_URL: platform.baseUrl }
  const app = composeRun(
    { ...emulators.environment, ...addresses, ...keys },
    { log: silentLog, metrics: noMetrics, credentials: emulators.credentials },
  )
  const stream = streamNamed('sessions')
  const run = runOf(occasion)
  const result = await syncStream(stream, run, await app.syncDeps(noDeadline))
  await finishRun(run, { streams: [stream], results: [result] }, app.finishDeps())
  app.close()
}

async function manifestIn({ clients }: Cloud, Bucket: string | undefined) {
  const Key = 'manifests/run=20261128T020000Z-nightly.json'
  const { Body } = await clients.s3.send(new GetObjectCommand({ Bucket, Key }))
  return JSON.parse((await Body?.transformToString()) ?? '')
}

/** Everything the records table holds, without the times of this machine. */
async function recordsIn({ clients, emulators }: Cloud) {
  const { Items = [] } = await clients.dynamodb.send(
    new ScanCommand({ TableName: emulators.environment.RECORDS_TABLE }),
  )
  return Items.map(({ pk, hash, body }) => [pk?.S, hash?.S, body?.S]).sort()
}

describe('bundles', () => {
  useInstallation()

  it.each(functions)('CDK-01 %s is at most 1 MB (with pictures 2) and holds nothing of the laptop', (name) => {
    const asset = assetOf(template, name)
    expect(statSync(join(asset, 'index.js')).size).toBeLessThan((megabytes[name] ?? 1) * 1024 * 1024)
    const { sources } = JSON.parse(readFileSync(join(asset, 'index.js.map'), 'utf8')) as { sources: string[] }
    expect(sources.filter((source) => /lib\/(local|cli)\/|dynalite|fauxqs|duckdb/.test(source))).toEqual([])
  })

  it('CDK-01 run alone: paused three times, resumed, published, and in the end what a laptop has', async () => {
    const sync = start('sync-stream')
    const publish = start('publish-run')
    const event = { ...occasion, stream: 'sessions' }

    const statuses: unknown[] = []
    for (const looks of [6, 6, 6, undefined]) {
      const { result, error } = await sync.invoke(event, looks)
      statuses.push(error ?? result?.status)
    }
    expect(statuses).toEqual(['paused', 'paused', 'paused', 'complete'])

    const { result: last } = await sync.invoke(event)
    const { result: published } = await publish.invoke({ ...occasion, outcomes: [last] })
    expect(published).toMatchObject({ runId: '20261128T020000Z-nightly', status: 'complete', failure: null })

    await syncOnLaptop()
    const onAws = await manifestIn(cloud, cloud.bucket)
    const onLaptop = await manifestIn(laptop, laptop.emulators.environment.LAKE_BUCKET)
    const { apiCalls: _, ...countsOnAws } = onAws.scans[0].counts
    expect(onLaptop.scans[0].counts).toMatchObject(countsOnAws)
    expect(await recordsIn(cloud)).toEqual(await recordsIn(laptop))
    expect(await recordsIn(cloud)).toHaveLength(1_000)
    expect(sync.log()).not.toContain('sim-key')
  })

  it('measured the scan once, however often it was paused or asked again', () => {
    const metrics = started[0]!
      .log()
      .split('\n')
      .filter((line) => line.includes('CloudWatchMetrics'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const sent = metrics.map(({ _aws: _, service: __, ...metric }) => metric)
    expect(sent).toContainEqual({ stream: 'sessions', RecordsReceived: 1_000 })
    expect(sent).toContainEqual({ stream: 'sessions', StreamComplete: 1 })
    expect(sent.filter((metric) => 'RecordsReceived' in metric)).toHaveLength(1)
    expect(metrics.every(({ service }) => service === 'platform-sync')).toBe(true)
  })

  it('registered the partitions of the run and announced it once', async () => {
    const { runId } = (await manifestIn(cloud, cloud.bucket)) as { runId: string }
    const partitions = cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(partitions.map(({ input }) => [input.DatabaseName, input.TableName])).toEqual([
      ['platform_sync', 'sessions'],
      ['platform_sync', 'session_tags'],
    ])
    const events = cloud.calls.filter(({ action }) => action === 'PutEvents')
    const [entry] = (events[0]?.input.Entries ?? []) as { Detail: string; DetailType: string; Source: string }[]
    expect(events).toHaveLength(1)
    expect([entry?.Source, entry?.DetailType]).toEqual(['agent-platform-sync', 'sync.run.completed'])
    expect(JSON.parse(entry?.Detail ?? '{}')).toMatchObject({
      runId,
      status: 'complete',
      bucket: cloud.bucket,
      manifestKey: `manifests/run=${runId}.json`,
      streams: [{ stream: 'sessions', status: 'complete', counts: { received: 1_000, inserted: 1_000 } }],
    })
  })

  it('of the collector run alone: a request without a token is refused, and an empty batch fails nothing', async () => {
    const request = { headers: {}, body: '{"events":[]}', isBase64Encoded: false }
    const { result } = await start('collect-hook-events').invoke(request)
    expect(result).toMatchObject({ statusCode: 401 })
    expect((await start('store-hook-events').invoke({ Records: [] })).result).toEqual({ batchItemFailures: [] })
  })

  it('say how to create the secret when it is missing', async () => {
    cloud.secrets.delete('platform-sync/api-key')
    const { result } = await start('sync-stream').invoke({ ...occasion, schedule: 'later', stream: 'computers' })
    expect(result).toMatchObject({ status: 'failed' })
    expect(result?.reason).toContain(
      'The secret platform-sync/api-key does not exist in this region. Create it: aws secretsmanager',
    )
  })

  it('name the streams there are when asked for another', async () => {
    const { error } = await started[0]!.invoke({ ...occasion, stream: 'no-such' })
    expect(error).toContain('There is no stream "no-such". The streams are: readiness_reports')
  })

  it('tell the lines of the source in the stack of an error', async () => {
    const { error, stack } = await started[0]!.invoke({ ...occasion, stream: 'no-such' })
    const [place] = stack!.slice(error!.length + 1).split('\n')
    expect(place).toMatch(/^ {4}at .*\blib\/streams\/index\.ts:\d+:\d+\)$/)
  })
})

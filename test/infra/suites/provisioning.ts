import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { systemClock } from '../../../lib/core/clock.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { type PolledRecord, pollOnce } from '../../../lib/local/poller.ts'
import { createLedgerReader, ledgerParts } from '../../../lib/stores/ledger.ts'
import { createObjectStore } from '../../../lib/stores/objects.ts'
import { createSqs } from '../../../lib/stores/sqs.ts'
import { send } from '../../limits/emulated.ts'
import { intent } from '../../limits/fixture.ts'
import { clientOf } from '../../platform/fixture.ts'
import { type Bundle, bundledInstallation, startBundle } from '../bundle.ts'
import { type Cloud, startCloud } from '../cloud.ts'

let cloud: Cloud
let variables: Record<string, string>
let sqs: ReturnType<typeof createSqs>
let users: string[]
const started = new Map<string, Bundle>()
const names = ['apply-credit-limits', 'import-credit-limits', 'sync-stream', 'publish-run', 'audit-digest'] as const

function bundle(name: (typeof names)[number]): Bundle {
  return started.get(name)!
}
function bucket(variable: string) {
  return createObjectStore({ s3: cloud.clients.s3, bucket: variables[variable] ?? '' })
}

function useInstallation() {
  beforeAll(async () => {
    const template = bundledInstallation()
    const counts = { users: 40, revisions: 12, sessions: 1, reports: 1, computers: 1 }
    cloud = await startCloud(template, { counts, seed: 7 })
    variables = { ...cloud.environmentOf('sync-stream'), ...cloud.environmentOf('import-credit-limits') }
    const { endpointUrl, credentials: local } = cloud.emulators
    sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials: local })
    const credentials = { current: async () => 'sim-key', refresh: async () => 'sim-key' }
    const page = await clientOf(cloud.platform.url, { credentials }).listOrganizationUsers({ limit: 100 })
    users = page.users.flatMap(({ email }) => email ?? [])
    for (const name of names) {
      const env = { ...cloud.environmentOf(name), LIMITS_MAX_LIMIT: '10000' }
      started.set(name, startBundle(template, name, env))
    }
  })

  afterAll(async () => {
    for (const one of started.values()) one.stop()
    sqs?.destroy()
    await cloud?.close()
  })
}

/** One turn of the event source mapping with the function behind it. */
async function poll() {
  const records: PolledRecord[] = []
  const answers: unknown[] = []
  await pollOnce({
    ...{ sqs, queueUrl: variables.LIMITS_QUEUE_URL ?? '', log: silentLog, waitSeconds: 0 },
    handle: async (Records) => {
      const { result, error } = await bundle('apply-credit-limits').invoke({ Records })
      records.push(...Records)
      answers.push(error ?? result)
      return result as { batchItemFailures: { itemIdentifier: string }[] }
    },
  })
  return { records, answers }
}

/** Drops a file into the inbox and says so, as EventBridge does. */
async function drop(key: string, text: string): Promise<string[]> {
  await bucket('INBOX_BUCKET').put(key, Buffer.from(text), { contentType: 'text/csv' })
  const detail = { bucket: { name: variables.INBOX_BUCKET }, object: { key }, requester: '123456789012' }
  const { error } = await bundle('import-credit-limits').invoke({ time: '2026-05-06T10:00:00Z', detail })
  expect(error).toBeUndefined()
  return (await bucket('INBOX_BUCKET').list('')).sort()
}

function limitOf(email: string | undefined) {
  return cloud.platform.limits.get((email ?? '').toLowerCase())
}

describe('bundles of credit limits and of the audit trail', () => {
  useInstallation()

  it('SQS-01 apply what a batch brings, and answer exactly the messages that failed', async () => {
    const [ana, ben] = users as [string, string]
    const queueUrl = variables.LIMITS_QUEUE_URL ?? ''
    await send(sqs, queueUrl, JSON.stringify(intent({ [ana]: 5, [ben]: 6 })))
    await send(sqs, queueUrl, 'no JSON')
    const { records, answers } = await poll()
    expect(records).toHaveLength(2)
    expect(answers).toEqual([{ batchItemFailures: [{ itemIdentifier: records[1]?.messageId }] }])
    expect([limitOf(ana), limitOf(ben)]).toEqual([5, 6])
    const { dynamodb } = cloud.clients
    const parts = { dynamodb, table: variables.LIMITS_TABLE ?? '', clock: systemClock, random: Math.random }
    const [outcome] = await createLedgerReader(ledgerParts(parts)).outcomesOf(ana.toLowerCase())
    expect(outcome).toMatchObject({ outcome: 'applied', limit: 5, requestedBy: 'it@example.com' })
    expect(bundle('apply-credit-limits').log()).toContain('"LimitsApplied":2')
  })

  it('import a file of the inbox, whose limits the next batch applies', async () => {
    expect(await drop('june & july.csv', `email,limit\n${users[2]},70\n`)).toEqual([
      'done/20260506T100000Z-june & july.csv',
      'done/20260506T100000Z-june & july.csv.result.json',
    ])
    await poll()
    expect(limitOf(users[2])).toBe(70)
  })

  it('refuse a file as a whole, with a report that names line and reason', async () => {
    const listed = await drop('july.csv', `email,limit\n${users[2]},80\nb@example.com,99999\n`)
    const report = 'failed/20260506T100000Z-july.csv.report.txt'
    expect(listed).toContain(report)
    expect(Buffer.from((await bucket('INBOX_BUCKET').get(report)) ?? []).toString()).toContain('line 3')
    await poll()
    expect(limitOf(users[2])).toBe(70)
  })

  it('record the settings, sign a digest with the key in KMS and another one a day, and the trail verifies', async () => {
    const scheduled = { schedule: 'controls', scheduledAt: '2026-11-28T02:00:00Z' }
    const event = { ...scheduled, stream: 'enterprise_control_revisions' }
    const { result: step } = await bundle('sync-stream').invoke(event)
    expect(step).toMatchObject({ status: 'complete' })
    const { result: digest, error } = await bundle('audit-digest').invoke({})
    expect([error, digest]).toEqual([undefined, expect.objectContaining({ faults: 0, newFindings: 0 })])
    expect(await verifyTrail(bucket('AUDIT_BUCKET'))).toMatchObject({
      faults: [],
      entries: { checked: 12 },
      digests: { checked: 2 },
      unsignedEntries: 0,
    })
    expect(bundle('audit-digest').log()).toContain('"AuditDigests":1')

    const log = await bundle('sync-stream').invoke({ ...scheduled, stream: 'credit_limit_outcomes' })
    const outcomes = [step, log.result]
    const { result: published } = await bundle('publish-run').invoke({ ...scheduled, outcomes })
    expect(published).toMatchObject({ status: 'complete', failure: null })
  })

  it('bring the outcomes of limits, and what changed in the settings, to the catalog with the next run', () => {
    const registered = cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(registered.map(({ input }) => input.TableName)).toEqual(
      expect.arrayContaining(['credit_limit_outcomes', 'enterprise_setting_changes']),
    )
  })

  it('tell by the event of the run which changes of settings deserve attention', () => {
    const event = cloud.calls.find(({ action }) => action === 'PutEvents')
    const [entry] = (event?.input.Entries ?? []) as { Detail: string }[]
    const { streams } = JSON.parse(entry?.Detail ?? '{}') as { streams: { notices?: { severity: string }[] }[] }
    expect(streams[0]?.notices?.[0]).toMatchObject({ severity: expect.any(String), message: expect.any(String) })
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../../lib/core/log.ts'
import { policyPlaces } from '../../../lib/limits/inbox-places.ts'
import { type PolledRecord, pollOnce } from '../../../lib/local/poller.ts'
import { createCheckpoints } from '../../../lib/stores/checkpoints.ts'
import { createObjectStore, type ObjectStore } from '../../../lib/stores/objects.ts'
import { createPolicyStore } from '../../../lib/stores/policy-store.ts'
import { createSqs } from '../../../lib/stores/sqs.ts'
import { event as hookEvent } from '../../hooks/collector/fixture.ts'
import { type Bundle, bundledInstallation, startBundle } from '../bundle.ts'
import { type Cloud, startCloud } from '../cloud.ts'
import { hookToken } from '../stand-ins.ts'
import { type Synthesized, scheduledInput } from '../synthesized.ts'
import { unusedBy } from '../unused-permissions.ts'

let template: Synthesized
let cloud: Cloud
let variables: Record<string, string>
let lake: ObjectStore
let inbox: ObjectStore
let sqs: ReturnType<typeof createSqs>
const started = new Map<string, Bundle>()

function useInstallation() {
  beforeAll(async () => {
    template = bundledInstallation()
    const counts = { sessions: 110, users: 20, reports: 5, revisions: 5, computers: 3, messagesPerSession: 1 }
    cloud = await startCloud(template, { counts, seed: 7 })
    const names = ['sync-stream', 'import-credit-limits', 'collect-hook-events']
    variables = Object.assign({}, ...names.map((name) => cloud.environmentOf(name)))
    const { s3 } = cloud.clients
    lake = createObjectStore({ s3, bucket: variables.LAKE_BUCKET ?? '' })
    inbox = createObjectStore({ s3, bucket: variables.INBOX_BUCKET ?? '' })
    const { endpointUrl, credentials } = cloud.emulators
    sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials })
  })

  afterAll(async () => {
    for (const bundle of started.values()) bundle.stop()
    sqs?.destroy()
    await cloud?.close()
  })
}

type Result = Record<string, unknown>

/** Calls a function, which must be refused nothing. */
async function call(name: string, event: object, looks?: number): Promise<Result> {
  const bundle = started.get(name) ?? startBundle(template, name, cloud.environmentOf(name))
  started.set(name, bundle)
  const before = cloud.refusals.length
  const { result = {}, error } = await bundle.invoke(event, looks)
  expect(cloud.refusals.slice(before)).toEqual([])
  expect(error).toBeUndefined()
  return result
}

type Delivered = { event: { Records: readonly PolledRecord[] }; batchItemFailures: { itemIdentifier: string }[] }

/** Calls a function with what waits on a queue, as its event source mapping does. */
async function deliver(queue: 'LIMITS_QUEUE_URL' | 'HOOKS_QUEUE_URL', name: string): Promise<Delivered> {
  const delivered: Delivered[] = []
  await pollOnce({
    ...{ sqs, queueUrl: variables[queue] ?? '', log: silentLog, waitSeconds: 0 },
    handle: async (Records) => {
      const answer = (await call(name, { Records })) as Pick<Delivered, 'batchItemFailures'>
      delivered.push({ event: { Records }, ...answer })
      return answer
    },
  })
  expect(delivered).toHaveLength(1)
  return delivered[0]!
}

/** Calls who applies limits with what waits for it, of which nothing fails. */
async function applyLimits() {
  expect(await deliver('LIMITS_QUEUE_URL', 'apply-credit-limits')).toMatchObject({ batchItemFailures: [] })
}

/** Puts a file into the inbox, and tells a function of it, as EventBridge does. */
async function drop(key: string, text: string, name: string): Promise<Result> {
  await inbox.put(key, Buffer.from(text))
  return await call(name, { time: '2026-11-01T10:00:00Z', detail: { object: { key }, requester: '123456789012' } })
}

/** What the state machine does. The first attempt at the sessions ends after a page, so that they are flushed twice. */
async function night(scheduledAt: string): Promise<void> {
  const { streams, shards = [] } = scheduledInput(template, 'nightly')
  const occasion = { schedule: 'nightly', scheduledAt }
  const sync = async (stream: string) => {
    const steps: Result[] = []
    const attempts = stream === 'sessions' ? [2, undefined] : [undefined]
    for (const looks of attempts) steps.push(await call('sync-stream', { ...occasion, stream }, looks))
    expect(steps.map(({ status }) => status)).toEqual([...attempts.slice(1).map(() => 'paused'), 'complete'])
    return steps.at(-1)
  }
  const outcomes: unknown[] = []
  for (const stream of streams) outcomes.push(await sync(stream))
  const shardOutcomes: unknown[] = []
  for (const shard of shards) shardOutcomes.push(await sync(shard))
  const published = await call('publish-run', { ...occasion, outcomes, shards, shardOutcomes })
  expect(published).toMatchObject({ status: 'complete', failure: null })
  await call('apply-credit-policy', occasion)
  await call('write-report', occasion)
}

/** What tells records from one another: sessions, users and revisions have one of these each. */
type Listed = { sessionId: string; id: string; revision: string; email: string }

/** The first page of a list of the platform. */
async function listed(resource: 'sessions' | 'organization/users' | 'organization/enterprise-controls/history') {
  const headers = { authorization: 'Bearer sim-key' }
  const response = await fetch(`${cloud.platform.baseUrl}/api/v0/${resource}?limit=100`, { headers })
  const [records] = Object.values((await response.json()) as Record<string, Listed[]>)
  return records!
}

function nested(levels: number): unknown {
  return levels === 0 ? 'deep' : [nested(levels - 1)]
}

/** More than an item of DynamoDB takes, packed as well. */
function large(): number[] {
  return Array.from({ length: 50_000 }, () => Math.random())
}

describe('the rights of functions', () => {
  useInstallation()

  it('CDK-05 suffice for a night, with records that no table can take, and with large ones', async () => {
    const sessions = await listed('sessions')
    const users = await listed('organization/users')
    const revisions = await listed('organization/enterprise-controls/history')
    const [deep, session] = sessions
    for (const sessionId of [deep!.sessionId, 'in-the-last-page'])
      cloud.platform.put('sessions', sessionId, { value: { sessionId, x: nested(201) } })
    cloud.platform.put('sessions', session!.sessionId, { value: { ...session, x: large() } })
    cloud.platform.put('users', users[0]!.id, { value: { ...users[0], x: large() } })
    cloud.platform.put('revisions', revisions[0]!.revision, { value: { ...revisions[0], x: large() } })
    await night('2026-11-01T02:00:00Z')
    expect(await lake.list('quarantine/')).toHaveLength(1)
    expect(await lake.list('bodies/')).toHaveLength(3)
  })

  it('suffice for limits of a file, for one that is refused, and for a look at what waits', async () => {
    const users = await listed('organization/users')
    await drop('july.csv', `email,limit\n${users[0]!.email},70\n`, 'import-credit-limits')
    await drop('august.csv', 'email,limit\nana@example.com,many\n', 'import-credit-limits')
    await call('import-credit-limits', { source: 'aws.events' })
    expect((await inbox.list('')).map((key) => key.split('/')[0])).toEqual(['done', 'done', 'failed', 'failed'])
    await applyLimits()
    expect(cloud.platform.limits.size).toBe(1)
  })

  it('suffice for limits of a policy, and for a plan that waits for its approval', async () => {
    const policyKey = `${policyPlaces.policy}policy.yaml`
    expect(await drop(policyKey, 'default: 500\n', 'apply-credit-policy')).toEqual({ status: 'queued' })
    await applyLimits()
    const approved = 'default: 600\nguard: { approval: always }\n'
    expect(await drop(policyKey, approved, 'apply-credit-policy')).toEqual({ status: 'waiting' })
    const planId = (await createPolicyStore(inbox).newest())!.plan.id
    const approval = JSON.stringify({ planId, approvedBy: 'ana@example.com' })
    const key = `${policyPlaces.approvals}${planId}.json`
    expect(await drop(key, approval, 'apply-credit-policy')).toEqual({ status: 'queued' })
    await applyLimits()
    expect(new Set(cloud.platform.limits.values())).toEqual(new Set([600]))
  })

  it('suffice for events of machines', async () => {
    const headers = { authorization: `Bearer ${hookToken}` }
    const request = { headers, body: JSON.stringify({ events: [hookEvent()] }), isBase64Encoded: false }
    expect(await call('collect-hook-events', request)).toMatchObject({ statusCode: 202 })
    const { event, batchItemFailures } = await deliver('HOOKS_QUEUE_URL', 'store-hook-events')
    expect(batchItemFailures).toEqual([])
    // As if it had died before it wrote what it claimed: the message comes again, and then once more.
    await lake.remove(await lake.list('hooks/'))
    for (const _ of ['again', 'once more']) await call('store-hook-events', event)
    expect(await lake.list('hooks/')).toHaveLength(1)
  })

  it('suffice for the digest of a day', async () => {
    expect(await call('audit-digest', {})).toMatchObject({ faults: 0 })
  })

  it('suffice for a scan that is given up after a page, and its files with it', async () => {
    cloud.platform.advance()
    const occasion = { schedule: 'nightly', scheduledAt: '2026-11-01T20:00:00Z', stream: 'sessions' }
    expect(await call('sync-stream', occasion, 2)).toMatchObject({ status: 'paused' })
    const parts = async () => (await lake.list('changes/')).filter((key) => key.endsWith('.rows'))
    expect(await parts()).not.toEqual([])
    const { dynamodb } = cloud.clients
    await createCheckpoints({ dynamodb, table: variables.STATE_TABLE ?? '' }).reset('sessions', {
      index: false,
      now: Date.now(),
    })
    const before = await parts()
    expect(await call('sync-stream', occasion)).toMatchObject({ status: 'complete' })
    const after = await parts()
    expect(before.filter((key) => after.includes(key))).toEqual([])
  })

  it('suffice for a second night, after records changed and went, history was rewritten, and an index got lost', async () => {
    cloud.platform.advance()
    const sessions = await listed('sessions')
    const revisions = await listed('organization/enterprise-controls/history')
    cloud.platform.remove('sessions', sessions[2]!.sessionId)
    cloud.platform.put('revisions', revisions[1]!.revision, { value: { ...revisions[1], updatedBy: 'nobody' } })
    await lake.remove(await lake.list('index/computers/'))
    await night('2026-11-02T02:00:00Z')
  })

  it('suffice to wait where the platform limits the rate', async () => {
    cloud.platform.fault({ kind: 'status', endpoint: 'setUserLimits', status: 429, headers: { 'retry-after': '900' } })
    await drop('september.csv', 'email,limit\nana@example.com,80\n', 'import-credit-limits')
    const { batchItemFailures } = await deliver('LIMITS_QUEUE_URL', 'apply-credit-limits')
    expect(batchItemFailures).toHaveLength(1)
  })

  it('CDK-05 are all used by that, but for those that only trouble asks for', () => {
    const names = [...started.keys()]
    expect(names.toSorted()).toEqual(functionsIn(template))
    const unused = names.map((name) => [name, unusedBy(name, cloud.guard)] as const)
    expect(Object.fromEntries(unused.filter(([, permissions]) => permissions.length > 0))).toEqual(forTrouble)
  })
})

/** Permissions that a function needs on a day that nobody makes here. */
const forTrouble = {
  // Another worker has the lease on the ledger.
  'apply-credit-limits': ['dynamodb:GetItem on arn:aws:dynamodb:table/platform-sync-limits'],
  // The index of the users is replaced while the policy is at it.
  'apply-credit-policy': ['s3:ListBucket on arn:aws:s3:::platform-sync-lake'],
  // More findings come at once than the head of the trail holds, or a writer died that had staged entries.
  'audit-digest': [
    's3:DeleteObject on arn:aws:s3:::platform-sync-lake/index/audit/staged/*',
    's3:GetObject on arn:aws:s3:::platform-sync-lake/index/audit/*',
    's3:ListBucket on arn:aws:s3:::platform-sync-lake',
    's3:PutObject on arn:aws:s3:::platform-sync-lake/index/audit/*',
  ],
  // Snapshots are older than the term for which they are kept.
  'publish-run': ['s3:DeleteObject on arn:aws:s3:::platform-sync-lake/iceberg/*'],
}

function functionsIn({ resources }: Synthesized): string[] {
  return resources('AWS::Lambda::Function')
    .map(([, { Properties }]) => String(Properties.FunctionName).replace('platform-sync-', ''))
    .toSorted()
}

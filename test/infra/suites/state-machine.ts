import type { Context } from 'aws-lambda'
import { StateMachine } from 'aws-local-stepfunctions'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { asLambda, failureIn, type Handler } from '../as-lambda.ts'
import { bundledInstallation } from '../bundle.ts'
import { type Cloud, ofOwner, startCloud } from '../cloud.ts'
import { resolved } from '../synthesized.ts'

type Input = { schedule: string; scheduledAt: string; streams: string[] }
type Task = (event: { stream: string }) => Promise<unknown>
type LocalTask = (input: unknown) => Promise<never>
type Output = { run: Record<string, unknown>; outcomes: Record<string, unknown>[] }
type Outcome = { output?: Output; error?: string }

let definition: ConstructorParameters<typeof StateMachine>[0]
let cloud: Cloud
let handlers: { sync: Handler; publish: Handler }
/** How often time may be looked at before it gets short; null: an attempt has all the time. */
let looks: number | null = null
const waited: string[] = []
/** What the step of the policy was asked, and how it ends. */
const kept: unknown[] = []
let keepPolicy: (event: unknown) => Promise<unknown>
/** Of which runs a page was asked for, and how that ends. */
const paged: unknown[] = []
let writePage: (event: unknown) => Promise<unknown>

/** Each test is another night, on which records have changed. */
let nightly: Input

/** The real handlers, loaded under the environment that the template gives them. One process can have one role at most. */
function useHandlers() {
  beforeAll(async () => {
    const template = bundledInstallation()
    const [, { Properties }] = template.resources('AWS::StepFunctions::StateMachine')[0]!
    const arn = '"arn:aws:lambda:us-east-1:123456789012:function:$1"'
    definition = JSON.parse(resolved(Properties.DefinitionString).replaceAll(/"(\w+Function\w+)\.Arn"/g, arn))
    cloud = await startCloud(template, { counts: { sessions: 450, computers: 3, users: 1, reports: 1, revisions: 1 } })
    const quiet = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' }
    const variables = { ...cloud.environmentOf('sync-stream'), ...ofOwner, ...quiet }
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    handlers = {
      sync: (await import('../../../functions/sync-stream.ts')).handler as Handler,
      publish: (await import('../../../functions/publish-run.ts')).handler as Handler,
    }
  })

  afterAll(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await cloud?.close()
  })

  beforeEach(() => {
    looks = null
    waited.length = 0
    kept.length = 0
    paged.length = 0
    writePage = async (event) => ({ number: paged.push(event) })
    keepPolicy = async (event) => ({ number: kept.push(event) })
    cloud.calls.length = 0
    cloud.platform.clearFaults()
    const { now } = cloud.platform.advance()
    nightly = { schedule: 'nightly', scheduledAt: now, streams: ['sessions', 'computers'] }
  })
}

function context(): Context {
  let left = looks ?? Number.POSITIVE_INFINITY
  return {
    functionName: 'f',
    getRemainingTimeInMillis: () => (left-- > 0 ? 600_000 : 4_000),
  } as unknown as Context
}

async function run(input: Input, sync: Task = asLambda(handlers.sync, context)): Promise<Outcome> {
  const execution = new StateMachine(definition).run(input, {
    overrides: {
      taskResourceLocalHandlers: {
        SyncStream: sync as LocalTask,
        PublishRun: asLambda(handlers.publish, context) as LocalTask,
        ApplyCreditPolicy: keepPolicy as unknown as LocalTask,
        WriteReport: writePage as unknown as LocalTask,
      },
      waitTimeOverrides: { WaitAsAsked: 0, WaitForOtherWorker: 20 },
      retryIntervalOverrides: { SyncStream: 0, PublishRun: 0, ApplyCreditPolicy: 0, WriteReport: 0 },
    },
  })
  const noteWaits = async () => {
    for await (const event of execution.eventLogs) {
      if (event.type === 'StateEntered' && event.state.name === 'WaitAsAsked')
        waited.push(JSON.stringify(event.state.input))
    }
  }
  const [result] = await Promise.allSettled([execution.result, noteWaits()])
  return result.status === 'fulfilled'
    ? { output: result.value as Output }
    : { error: failureIn(result.reason as Error) }
}

const rateLimit = { kind: 'status', endpoint: 'listSessions', status: 429 } as const

function events() {
  return cloud.calls.filter(({ action }) => action === 'PutEvents')
}

describe('the state machine', () => {
  useHandlers()

  it('asks for the page of a nightly run alone, and ends as it would where that fails', async () => {
    expect((await run(nightly)).error).toBeUndefined()
    const { schedule, scheduledAt } = nightly
    expect(paged).toEqual([{ schedule, scheduledAt }])
    expect((await run({ ...nightly, schedule: 'controls' })).error).toBeUndefined()
    expect(paged).toHaveLength(1)
    writePage = async () => {
      throw new Error('the page fails')
    }
    expect(await run(nightly)).toMatchObject({ output: { run: { failure: null } } })
  })

  it('keeps the policy of credit limits after the users were read, and ends as it would where that fails', async () => {
    expect((await run(nightly)).error).toBeUndefined()
    expect(kept).toEqual([])
    const { schedule, scheduledAt } = nightly
    const users = { ...nightly, streams: ['organization_users'] }
    expect((await run(users)).error).toBeUndefined()
    expect(kept).toEqual([{ schedule, scheduledAt }])
    keepPolicy = async () => {
      throw new Error('the policy fails')
    }
    expect((await run(users)).error).toBeUndefined()
  })

  it('calls again until a paused stream is done, and publishes all streams at the end', async () => {
    looks = 4
    let attempts = 0
    const real = asLambda(handlers.sync, context)
    const { output, error } = await run(nightly, (event) => {
      if (event.stream === 'sessions') attempts += 1
      return real(event)
    })
    expect(error).toBeUndefined()
    expect(attempts).toBeGreaterThan(2)
    expect(output?.outcomes.map(({ stream, status }) => [stream, status])).toEqual([
      ['sessions', 'complete'],
      ['computers', 'complete'],
    ])
    expect(output?.run).toMatchObject({ status: 'complete', failure: null })
    expect(events()).toHaveLength(1)
  })

  it('waits as long as the platform asks when it limits the rate', async () => {
    const fault = cloud.platform.fault({ ...rateLimit, headers: { 'retry-after': '900' } })
    const real = asLambda(handlers.sync, context)
    const now = Date.now
    const { output } = await run(nightly, async (event) => {
      const result = await real(event)
      if (event.stream !== 'sessions') return result
      cloud.platform.removeFault(fault.id)
      // The interpreter does not really wait. Time goes on from there in the tests after this one, as the wait holds for all workers.
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 905_000)
      return result
    })
    expect(waited).toHaveLength(1)
    expect(JSON.parse(waited[0]!).step).toMatchObject({ status: 'rate_limited', waitSeconds: 900 })
    expect(output?.run).toMatchObject({ status: 'complete' })
  })

  it('WAIT-01 ends a stream whose wait is beyond the run, publishes the others, and asks no more until that time', async () => {
    const limited = { ...nightly, streams: ['readiness_reports', 'computers'] }
    const fault = cloud.platform.fault({
      ...{ ...rateLimit, endpoint: 'listReports' },
      headers: { 'retry-after': '2592000' },
    })
    const { error } = await run(limited)
    expect(waited).toEqual([])
    expect(error).toMatch(/^readiness_reports rate_limited: .*no request is sent before \d{4}-\d\d-\d\dT/)
    const partitions = cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(partitions.map(({ input }) => input.TableName)).toContain('computers')
    cloud.platform.removeFault(fault.id)
    const asked = cloud.platform.counts.listReports
    await run({ ...limited, schedule: 'later' })
    expect(cloud.platform.counts.listReports).toBe(asked)
  })

  it('publishes the others when one stream fails, and then fails with the reason', async () => {
    cloud.platform.fault({ kind: 'json200', endpoint: 'listComputers', body: {} })
    const { error } = await run(nightly)
    expect(error).toMatch(/^computers failed: /)
    const partitions = cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(partitions.map(({ input }) => input.TableName)).toContain('sessions')
    expect(JSON.stringify(events())).toContain('partial')
  })

  it('publishes the others when the function of a stream is killed again and again', async () => {
    const real = asLambda(handlers.sync, context)
    let deaths = 0
    const { error } = await run(nightly, (event) => {
      if (event.stream !== 'computers') return real(event)
      deaths += 1
      throw Object.assign(new Error('{"errorMessage":"RequestId: 1 Error: Runtime exited"}'), {
        name: 'Runtime.ExitError',
      })
    })
    expect(deaths).toBe(3)
    expect(error).toBe('computers failed: Runtime.ExitError: RequestId: 1 Error: Runtime exited')
    expect(events()).toHaveLength(1)
  })

  it('asks a function once that can not read what it gets, or has not what it needs, and publishes the others', async () => {
    const real = asLambda(handlers.sync, context)
    let asked = 0
    const { error } = await run(nightly, (event) => {
      if (event.stream !== 'computers') return real(event)
      asked += 1
      return real({ ...event, stream: 7 })
    })
    expect(asked).toBe(1)
    expect(error).toMatch(/^computers failed: FatalError: The event is not what the state machine sends \(stream: /)
    expect(events()).toHaveLength(1)
  })

  it('SQS-10 makes one run of a schedule that fires twice, and asks the platform once', async () => {
    await run(nightly)
    const asked = { ...cloud.platform.counts }
    const { output } = await run(nightly)
    expect(output?.run).toMatchObject({ status: 'complete' })
    expect(cloud.platform.counts).toEqual(asked)
    expect(events()).toHaveLength(1)
  })

  it('SQS-10 waits while another run is at the stream, and reads it after that', async () => {
    const controls = { ...nightly, schedule: 'controls', streams: ['sessions'] }
    const [first, second] = await Promise.all([run(nightly), run(controls)])
    expect([first.output?.run, second.output?.run]).toMatchObject([{ status: 'complete' }, { status: 'complete' }])
    expect(events()).toHaveLength(2)
  })

  it('ends as failed, and says why, when another worker never lets go of a stream', async () => {
    const busy = { runId: 'r', status: 'running', reason: 'another worker is at it', retryAfterMs: null, counts: null }
    let asked = 0
    const { error } = await run({ ...nightly, streams: ['sessions'] }, async ({ stream }) => {
      asked += 1
      return { ...busy, stream, waitSeconds: 1 }
    })
    expect(asked).toBe(31)
    expect(error).toBe('sessions running: another worker is at it')
  })
})

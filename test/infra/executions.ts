import type { Context } from 'aws-lambda'
import { StateMachine } from 'aws-local-stepfunctions'
import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { asLambda, failureIn, type Handler } from './as-lambda.ts'
import { bundledInstallation } from './bundle.ts'
import { type Cloud, ofOwner, startCloud } from './cloud.ts'
import type { Call } from './stand-ins.ts'
import { resolved } from './synthesized.ts'

type Input = { schedule: string; scheduledAt: string; streams: string[] }
type Task = (event: { stream: string }) => Promise<unknown>
type Step = (event: unknown) => Promise<unknown>
type LocalTask = (input: unknown) => Promise<never>
type Output = { run: Record<string, unknown>; outcomes: Record<string, unknown>[] }
type Outcome = { output?: Output; error?: string }

/** Executions of the state machine with the real handlers, and what its steps were asked and how they end. */
type Executions = {
  cloud: Cloud
  /** Each test is another night, on which records have changed. */
  nightly: Input
  /** How often reading may look at the time before it gets short; null: an attempt has all the time. */
  looks: number | null
  /** The same of publishing, whose time is up then. */
  publishLooks: number | null
  readonly waited: string[]
  readonly kept: unknown[]
  keepPolicy: Step
  readonly paged: unknown[]
  writePage: Step
  /** A further call of publish-run. */
  followUp: Step
  /** The real function of a stream. */
  sync(): Step
  run(input: Input, sync?: Task): Promise<Outcome>
  events(): Call[]
}

type Loaded = { definition: ConstructorParameters<typeof StateMachine>[0]; sync: Handler; publish: Handler }

/** The real handlers, loaded under the environment that the template gives them. One process can have one role at most. */
export function useExecutions(): Executions {
  let loaded: Loaded
  const at = {
    ...{ looks: null, publishLooks: null, waited: [], kept: [], paged: [] },
    sync: () => asLambda(loaded.sync, () => contextOf(at.looks, { enough: 600_000, short: 4_000 })),
    run: (input: Input, sync: Task = at.sync()) => execute(input, { ...loaded, sync, at }),
    events: () => at.cloud.calls.filter(({ action }) => action === 'PutEvents'),
  } as unknown as Executions

  beforeAll(async () => {
    const template = bundledInstallation()
    const [, { Properties }] = template.resources('AWS::StepFunctions::StateMachine')[0]!
    const arn = '"arn:aws:lambda:us-east-1:123456789012:function:$1"'
    const definition = JSON.parse(resolved(Properties.DefinitionString).replaceAll(/"(\w+Function\w+)\.Arn"/g, arn))
    const counts = { sessions: 450, computers: 3, users: 1, reports: 1, revisions: 1 }
    at.cloud = await startCloud(template, { counts })
    const quiet = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' }
    const variables = { ...at.cloud.environmentOf('sync-stream'), ...ofOwner, ...quiet }
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    // Handlers keep what they were loaded with: another suite had another account.
    vi.resetModules()
    const sync = (await import('../../functions/sync-stream.ts')).handler as Handler
    const publish = (await import('../../functions/publish-run.ts')).handler as Handler
    loaded = { definition, sync, publish }
  })

  afterAll(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await at.cloud?.close()
  })

  beforeEach(() => {
    Object.assign(at, { looks: null, publishLooks: null })
    for (const list of [at.waited, at.kept, at.paged]) list.length = 0
    at.writePage = async (event) => ({ number: at.paged.push(event) })
    at.keepPolicy = async (event) => ({ number: at.kept.push(event) })
    at.followUp = asLambda(loaded.publish, () => contextOf(null, publishTime))
    at.cloud.calls.length = 0
    at.cloud.platform.clearFaults()
    const { now } = at.cloud.platform.advance()
    at.nightly = { schedule: 'nightly', scheduledAt: now, streams: ['sessions', 'computers'] }
  })
  return at
}

const publishTime = { enough: 900_000, short: 0 }

function contextOf(looks: number | null, { enough, short }: { enough: number; short: number }): Context {
  let left = looks ?? Number.POSITIVE_INFINITY
  return {
    functionName: 'f',
    getRemainingTimeInMillis: () => (left-- > 0 ? enough : short),
  } as unknown as Context
}

async function execute(
  input: Input,
  { definition, publish, sync, at }: Omit<Loaded, 'sync'> & { sync: Task; at: Executions },
): Promise<Outcome> {
  const execution = new StateMachine(definition).run(input, {
    overrides: {
      taskResourceLocalHandlers: {
        SyncStream: sync as LocalTask,
        PublishRun: asLambda(publish, () => contextOf(at.publishLooks, publishTime)) as LocalTask,
        FollowUp: at.followUp as LocalTask,
        ApplyCreditPolicy: at.keepPolicy as LocalTask,
        WriteReport: at.writePage as LocalTask,
      },
      waitTimeOverrides: { WaitAsAsked: 0, WaitForOtherWorker: 20, LetOthersPublish: 0 },
      retryIntervalOverrides: { SyncStream: 0, PublishRun: 0, FollowUp: 0, ApplyCreditPolicy: 0, WriteReport: 0 },
    },
  })
  const noteWaits = async () => {
    for await (const event of execution.eventLogs) {
      if (event.type === 'StateEntered' && event.state.name === 'WaitAsAsked')
        at.waited.push(JSON.stringify(event.state.input))
    }
  }
  const [result] = await Promise.allSettled([execution.result, noteWaits()])
  return result.status === 'fulfilled'
    ? { output: result.value as Output }
    : { error: failureIn(result.reason as Error) }
}

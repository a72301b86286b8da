import { describe, expect, it } from 'vitest'
import { sessionMessages } from '../../../lib/streams/session-messages.ts'
import { shardsOf } from '../../../lib/streams/shards.ts'
import { resolved, scheduledInput, synthesize, variablesOf } from '../synthesized.ts'

type State = { [name: string]: unknown }
type Machine = { StartAt: string; States: Record<string, State> }

const off = synthesize()
const on = synthesize({ messages: { enabled: true, concurrency: 7 } })

function machineIn({ resources }: typeof off): Machine {
  const [, { Properties }] = resources('AWS::StepFunctions::StateMachine')[0]!
  return JSON.parse(resolved(Properties.DefinitionString)) as Machine
}

describe('messages of sessions', () => {
  it('are read by nobody until the configuration says so', () => {
    expect(Object.keys(machineIn(off).States).sort()).toEqual([
      'ApplyCreditPolicy',
      'CountFollow',
      'DidAllStreamsEnd',
      'EveryStream',
      'FollowUp',
      'IsPolicyDue',
      'IsReportDue',
      'LetOthersPublish',
      'MayTablesComeFurther',
      'PublishRun',
      'RunFailed',
      'RunIsDone',
      'TablesFollow',
      'WereUsersRead',
      'WriteReport',
    ])
    expect(scheduledInput(off, 'nightly')).not.toHaveProperty('shards')
    expect(variablesOf(off, 'sync-stream')).not.toHaveProperty('MESSAGES_ENABLED')
  })

  it('are read shard by shard after the streams, so many at a time as the configuration says, each in an execution of its own', () => {
    const { States } = machineIn(on)
    expect(States.EveryStream).toMatchObject({ Next: 'AreThereShards' })
    expect(States.AreThereShards).toMatchObject({
      Choices: [{ Variable: '$.shards[0]', IsPresent: true, Next: 'EveryShard' }],
      Default: 'NoShards',
    })
    expect(States.EveryShard).toMatchObject({
      ...{ Type: 'Map', ItemsPath: '$.shards', MaxConcurrency: 7, ResultPath: '$.shardOutcomes', Next: 'PublishRun' },
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'SyncStreamOfShard',
      },
    })
  })

  it('keep no run from being published: a shard that fails, its death, and that of all of them are data', () => {
    const { States } = machineIn(on)
    expect(States.EveryShard).toMatchObject({
      ToleratedFailurePercentage: 100,
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'ShardsUnknown' }],
    })
    expect(States.ShardsUnknown).toMatchObject({ Result: [], ResultPath: '$.shardOutcomes', Next: 'PublishRun' })
    const { ItemProcessor } = States.EveryShard as { ItemProcessor: Machine }
    expect(ItemProcessor.States.SyncStreamOfShard).toMatchObject({
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'StreamDiedOfShard' }],
    })
    for (const step of [States.PublishRun, States.FollowUp])
      expect(JSON.stringify(step)).toContain('"shardOutcomes.$":"$.shardOutcomes"')
  })

  it('are in the schedules by the names of their shards, and each function knows that they are read', () => {
    const { streams, shards } = scheduledInput(on, 'nightly')
    expect(streams).not.toContain('session_messages')
    expect(shards).toEqual(shardsOf(sessionMessages).map(({ name }) => name))
    expect(scheduledInput(on, 'controls')).not.toHaveProperty('shards')
    for (const name of ['sync-stream', 'publish-run']) {
      expect(variablesOf(on, name)).toMatchObject({ MESSAGES_ENABLED: 'true' })
    }
  })

  it('need nothing of the machine but to start its own executions, and nothing that is not accounted for', () => {
    expect(on.findings).toEqual([])
    const policies = JSON.stringify(on.resources('AWS::IAM::Policy').map(([, { Properties }]) => Properties))
    expect(policies).toContain('states:StartExecution')
  })
})

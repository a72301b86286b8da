import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { createCheckpoints } from '../../lib/stores/checkpoints.ts'
import { createMemoryCheckpoints } from '../support/memory/checkpoints.ts'
import { checkpointsContract } from './contracts/checkpoints.ts'
import { localClients, useEmulators } from './emulated.ts'
import { summaryOf } from './samples.ts'

const emulated = useEmulators()
function create() {
  return createCheckpoints({ dynamodb: emulated().dynamodb, table: emulated().stateTable })
}

checkpointsContract('in memory', createMemoryCheckpoints)
checkpointsContract('in DynamoDB', create)

describe('a checkpoint in DynamoDB', () => {
  const damage = (stream: string) =>
    emulated().dynamodb.send(
      new UpdateItemCommand({
        TableName: emulated().stateTable,
        Key: { pk: { S: 'stream' }, sk: { S: stream } },
        UpdateExpression: 'SET #state = :broken',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':broken': { S: '{"status":' } },
      }),
    )

  it('says how to go on when it is unreadable, and the reset it names works', async () => {
    const checkpoints = create()
    await checkpoints.acquire('broken', { owner: 'a', now: 0, expiresAt: 1 })
    await damage('broken')
    await expect(checkpoints.read('broken')).rejects.toMatchObject({
      code: 'damaged_state',
      message: expect.stringContaining('platform-sync reset broken'),
    })
    await checkpoints.reset('broken', { index: false, now: 2 })
    expect(await checkpoints.read('broken')).toMatchObject({ scan: null, index: null, scansCompleted: 1 })
  })

  it('names the table and what to do when the table is missing', async () => {
    const lost = createCheckpoints({ dynamodb: emulated().dynamodb, table: 'no-such-table' })
    await expect(lost.read('sessions')).rejects.toMatchObject({
      code: 'configuration',
      action: 'stop',
      message: expect.stringMatching(/no-such-table.*Deploy the stateful stack/s),
    })
  })
})

describe('a checkpoint in DynamoDB, when the answer to its write is lost', () => {
  /** Checkpoints whose every first answer to a write is cut off after the write was done; the SDK then repeats it. */
  const overLossyNetwork = () => {
    const { dynamodb } = localClients(emulated().emulators.endpointUrl)
    let lost = 0
    dynamodb.middlewareStack.add(
      (next, context) => async (args) => {
        const result = await next(args)
        const { headers } = args.request as { headers: Record<string, string> }
        const isWrite = (context as { commandName?: string }).commandName === 'UpdateItemCommand'
        if (!isWrite || !headers['amz-sdk-request']?.startsWith('attempt=1')) return result
        lost += 1
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', $retryable: {} })
      },
      { step: 'deserialize', priority: 'high' },
    )
    return { checkpoints: createCheckpoints({ dynamodb, table: emulated().stateTable }), lost: () => lost }
  }
  const claim = { owner: 'a', now: 0, expiresAt: 60 }

  it('holds the lease that the first write took, saves, completes and releases as if nothing had happened', async () => {
    const { checkpoints, lost } = overLossyNetwork()
    const taken = await checkpoints.acquire('lossy', claim)
    if ('heldBy' in taken) throw new Error(`held by ${taken.heldBy}`)
    expect(taken.checkpoint.fence).toBe(1)
    await checkpoints.save({ ...taken.checkpoint, reason: 'saved' }, claim)
    const summary = summaryOf({ stream: 'lossy' })
    await checkpoints.complete({ ...taken.checkpoint, reason: 'complete' }, claim, summary)
    expect(await checkpoints.read('lossy')).toMatchObject({ reason: 'complete', fence: 1 })
    expect(await checkpoints.unpublished('lossy')).toEqual([summary])
    await checkpoints.markPublished('lossy', summary.scanId)
    expect(await checkpoints.unpublished('lossy')).toEqual([])
    expect(lost()).toBe(4)
  })

  it('resets a stream', async () => {
    const { checkpoints } = overLossyNetwork()
    await checkpoints.acquire('lossy-reset', { ...claim, expiresAt: 1 })
    await checkpoints.reset('lossy-reset', { index: false, now: 2 })
    expect(await checkpoints.read('lossy-reset')).toMatchObject({ fence: 2, scan: null })
  })
})

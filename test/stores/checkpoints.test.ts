import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { createCheckpoints } from '../../lib/stores/checkpoints.ts'
import { createMemoryCheckpoints } from '../support/memory/checkpoints.ts'
import { checkpointsContract } from './contracts/checkpoints.ts'
import { useEmulators } from './emulated.ts'

const emulated = useEmulators()
const create = () => createCheckpoints({ dynamodb: emulated().dynamodb, table: emulated().stateTable })

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
    expect(await checkpoints.read('broken')).toMatchObject({ scan: null, index: null })
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

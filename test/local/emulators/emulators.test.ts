import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import dynalite from 'dynalite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkFolder, setAside } from '../../../lib/local/emulators/check-folder.ts'
import { type Emulators, startEmulators, startFailure } from '../../../lib/local/emulators/emulators.ts'
import { createCheckpoints } from '../../../lib/stores/checkpoints.ts'
import { stateTable } from '../../../lib/stores/resources.ts'
import { localClients } from '../../stores/clients.ts'

let dir: string
const running: Emulators[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
})
afterEach(async () => {
  for (const emulators of running.splice(0)) await emulators.close()
  rmSync(dir, { recursive: true, force: true })
})

async function start() {
  const emulators = await startEmulators({ dir })
  running.push(emulators)
  const { dynamodb } = localClients(emulators.endpointUrl)
  const { STATE_TABLE = '' } = emulators.environment
  const checkpoints = createCheckpoints({ dynamodb, table: STATE_TABLE })
  return { emulators, checkpoints }
}
async function stop() {
  for (const emulators of running.splice(0)) await emulators.close()
}

describe('the emulators', () => {
  it('end the lease of a killed process, since nobody else can have the folder', async () => {
    const first = await start()
    const claim = { now: Date.now(), expiresAt: Date.now() + 3_600_000 }
    await first.checkpoints.acquire('sessions', { ...claim, owner: 'killed' })
    expect(await first.checkpoints.acquire('sessions', { ...claim, owner: 'next' })).toMatchObject({ heldBy: 'killed' })
    await stop()
    const second = await start()
    expect(await second.checkpoints.acquire('sessions', { ...claim, owner: 'next' })).toMatchObject({
      checkpoint: { fence: 2 },
    })
  })

  it('complete a table that a killed process was making', async () => {
    const dynamo = dynalite({ path: join(dir, 'dynamodb'), createTableMs: 3_600_000 })
    await new Promise<void>((resolve) => dynamo.listen(0, '127.0.0.1', resolve))
    const { dynamodb } = localClients(`http://127.0.0.1:${(dynamo.address() as AddressInfo).port}`)
    const name = `platform-sync-${stateTable.name}`
    await dynamodb.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    )
    dynamo.closeAllConnections()
    await new Promise((resolve) => dynamo.close(resolve))
    const { checkpoints } = await start()
    const claim = { owner: 'next', now: Date.now(), expiresAt: Date.now() + 60_000 }
    expect(await checkpoints.acquire('sessions', claim)).toMatchObject({ checkpoint: { fence: 1 } })
  })

  it('refuse a folder that is in use, and say so', async () => {
    await start()
    await expect(startEmulators({ dir })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`another platform-sync uses ${dir}`),
    })
  })

  it.each(['sqs', 'dynamodb'])('say how to go on when the state of %s is damaged', async (part) => {
    await start()
    await stop()
    const folder = join(dir, part)
    for (const file of readdirSync(folder)) {
      if (!/lock$/i.test(file)) writeFileSync(join(folder, file), 'not what it was '.repeat(300))
    }
    await expect(startEmulators({ dir })).rejects.toMatchObject({
      code: 'damaged_state',
      message: expect.stringMatching(/doctor --local .* says what of it is damaged/),
    })
    const parts = (await checkFolder(dir)) ?? []
    expect(parts.filter(({ damage }) => damage !== null).map((each) => each.part.split(' ')[0])).toEqual([part])
    const aside = setAside(dir, Date.UTC(2026, 10, 28))
    expect(aside).toBe(`${dir}.damaged-20261128T000000Z`)
    await start()
    expect((await checkFolder(aside))?.some(({ damage }) => damage !== null)).toBe(true)
    rmSync(aside, { recursive: true })
  })

  it('name what is in the way of a lock, and take a folder whose lock file was deleted', async () => {
    writeFileSync(join(dir, 'lock.db'), 'no database '.repeat(100))
    await expect(startEmulators({ dir })).rejects.toMatchObject({
      code: 'damaged_state',
      message: expect.stringMatching(/lock\.db can't be locked: .*delete it/),
    })
    rmSync(join(dir, 'lock.db'))
    await start()
  })

  it('refuse a file for a folder', async () => {
    const file = join(dir, 'file')
    writeFileSync(file, '')
    await expect(startEmulators({ dir: file })).rejects.toMatchObject({ code: 'usage' })
  })

  it('answer on the loopback interface alone', async () => {
    const { emulators } = await start()
    const { hostname, port } = new URL(emulators.endpointUrl)
    expect(hostname).toBe('127.0.0.1')
    const outside = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    for (const { address } of outside.filter(({ internal, family }) => !internal && family === 'IPv4')) {
      await expect(
        new Promise((resolve, reject) => connect(Number(port), address).on('connect', resolve).on('error', reject)),
      ).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    }
  })

  it('outlive a client that hangs up in the middle of a request', async () => {
    const { emulators, checkpoints } = await start()
    const { hostname, port } = new URL(emulators.endpointUrl)
    for (const target of ['DynamoDB_20120810.GetItem', 'AmazonSQS.SendMessage']) {
      const socket = connect(Number(port), hostname)
      const head = `POST / HTTP/1.1\r\nhost: x\r\nx-amz-target: ${target}\r\ncontent-type: application/x-amz-json-1.0\r\n`
      socket.write(`${head}content-length: 5000\r\n\r\n{"Table`)
      // By the time another request has its answer, this one has arrived as far as it goes.
      await checkpoints.read('sessions')
      socket.destroy()
    }
    await checkpoints.read('sessions')
    expect(await checkpoints.read('sessions')).toBeNull()
  })

  it('serve queues at the same address, and deliver again what a process that is gone had received', async () => {
    const client = ({ emulators }: { emulators: Emulators }) =>
      new SQSClient({
        endpoint: emulators.endpointUrl,
        region: 'us-east-1',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
        useQueueUrlAsEndpoint: false,
      })
    const before = client(await start())
    const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' }
    const { QueueUrl } = await before.send(new CreateQueueCommand({ QueueName: 'limits.fifo', Attributes }))
    for (const MessageBody of ['{"a":1}', '{"a":2}', '{"a":3}']) {
      await before.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'g' }))
    }
    expect((await before.send(new ReceiveMessageCommand({ QueueUrl }))).Messages).toHaveLength(1)
    await stop()
    const after = client(await start())
    const bodies: string[] = []
    for (let i = 0; i < 3; i++) {
      const [message] = (await after.send(new ReceiveMessageCommand({ QueueUrl }))).Messages ?? []
      bodies.push(message?.Body ?? '')
      await after.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }))
    }
    expect(bodies).toEqual(['{"a":1}', '{"a":2}', '{"a":3}'])
  })
})

it('are not told to be deleted where this account may only read them', () => {
  new DatabaseSync(join(dir, 'lock.db')).exec('create table a (b)')
  const reader = new DatabaseSync(join(dir, 'lock.db'), { readOnly: true })
  const refused = [() => reader.exec('drop table a'), () => new DatabaseSync(join(dir, 'none', 'lock.db'))].map(
    (work) => {
      try {
        return work()
      } catch (error) {
        return startFailure(error, dir)
      }
    },
  )
  const denied = { code: 'usage', message: expect.stringContaining('this account may not write in') }
  expect(refused).toEqual([expect.objectContaining(denied), expect.objectContaining(denied)])
  const damaged = startFailure(new Error('bad magic number'), dir)
  expect(damaged).toMatchObject({ code: 'damaged_state', message: expect.stringContaining('doctor --local') })
  expect(damaged).not.toMatchObject({ message: expect.stringMatching(/delete/i) })
})

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { reasonOf } from '../../core/disk-fault.ts'
import { FatalError, SyncError } from '../../core/errors.ts'
import type { AwsCredentials } from '../../stores/clients.ts'
import { createDynamoDb } from './dynamodb.ts'
import { removeAddress, writeAddress } from './endpoint.ts'
import { folderFault, lockFolder } from './lock.ts'
import { localCredentials, prepareResources } from './prepare.ts'
import { createS3AndSqs, type Emulator } from './s3-and-sqs.ts'
import { localSigning } from './signing-key.ts'

/** DynamoDB, S3 and SQS on this machine, at one address, with their state in a folder. */
export type Emulators = {
  /** For `AWS_ENDPOINT_URL`. */
  endpointUrl: string
  /** The environment variables under which handlers and commands work against these emulators. */
  environment: Record<string, string>
  /** The credentials of that environment, for those whose process has another one. */
  credentials: AwsCredentials
  close(): Promise<void>
}

/**
 * Starts the emulators on a free port of the loopback interface and creates what is missing. What was acknowledged
 * before a crash is there again.
 * @throws FatalError `usage` when another process uses the folder, `damaged_state` when its content can't be read.
 */
export async function startEmulators({ dir }: { dir: string }): Promise<Emulators> {
  const folder = resolve(dir)
  const lock = lockFolder(folder)
  try {
    removeAddress(folder)
    const emulators = await openEmulators(folder)
    writeAddress(folder, emulators.endpointUrl)
    const close = async () => {
      removeAddress(folder)
      await emulators.close()
      lock.release()
    }
    return { ...emulators, close }
  } catch (error) {
    lock.release()
    throw startFailure(error, folder)
  }
}

/** Starts the emulators over a folder that no other process uses, which the caller sees to. */
export async function openEmulators(folder: string): Promise<Emulators> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => {
    for (const part of opened.splice(0).reverse()) await part.close()
  }
  try {
    const s3AndSqs = await createS3AndSqs(folder)
    opened.push(s3AndSqs)
    const server = frontDoor(await createDynamoDb(join(folder, 'dynamodb')), s3AndSqs)
    opened.push({ close: () => closeServer(server) })
    const endpointUrl = await listen(server)
    const prepared = await prepareResources(endpointUrl)
    const environment = { ...prepared, ...localSigning(folder), LAKE_ADDRESS: addressOfLake(folder, prepared) }
    return { endpointUrl, environment, credentials: localCredentials, close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** Where tools of this machine find the lake's objects, which are plain files. */
function addressOfLake(folder: string, { LAKE_BUCKET = '' }: Record<string, string>): string {
  return `file://${join(folder, 's3', LAKE_BUCKET)}`
}

/**
 * One address for all: the SDK has one endpoint variable. DynamoDB's server takes the requests and hands the others on
 * in memory.
 */
function frontDoor(dynamodb: Server, others: Emulator): Server {
  const [answer] = dynamodb.listeners('request') as RequestListener[]
  if (!answer) throw new Error('the DynamoDB emulator has no request listener; its version is not the pinned one')
  dynamodb.removeAllListeners('request')
  dynamodb.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!String(request.headers['x-amz-target'] ?? '').startsWith('DynamoDB_')) return others.handle(request, response)
    answer(request, response)
    // It throws what a client's hang-up raises, which would end this process; a worker past its lease hangs up.
    request.removeAllListeners('error')
    request.on('error', () => response.destroy())
  })
  // Longer than the SDK keeps idle connections busy in a run, so that it rarely finds one closed.
  dynamodb.keepAliveTimeout = 120_000
  return dynamodb
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** The error for a folder whose state can't be opened: what to say of it, unless it says so itself. */
export function startFailure(error: unknown, folder: string): unknown {
  if (error instanceof SyncError) return error
  const fault = folderFault(folder, error)
  if (fault) return fault
  const message =
    `the local state in ${folder} can't be opened: ${reasonOf(error)}. "platform-sync doctor --local ${folder}" says what of ` +
    'it is damaged; with "--set-aside" it moves the folder aside, so that the next sync begins anew'
  return new FatalError(message, { code: 'damaged_state', cause: error })
}

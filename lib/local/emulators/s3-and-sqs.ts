import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { buildApp } from 'fauxqs'
import { mapConcurrently } from '../../core/concurrency.ts'
import { diskError, diskFaultName } from '../../core/disk-fault.ts'
import { type FifoQueueClass, severalPerGroup } from '../poller-fifo.ts'
import { createObjectFiles } from './object-files.ts'

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>
type Persistence = NonNullable<Stores['sqsStore']['persistence']>
type Modules = {
  SqsQueue: FifoQueueClass
  SqsStore: new () => Stores['sqsStore']
  SnsStore: new () => Stores['snsStore']
  S3Store: new () => Stores['s3Store']
  PersistenceManager: new (dir: string) => Persistence
  S3Error: new (code: string, message: string, status: number) => Error
  SqsError: new (code: string, message: string) => Error
}

/** An emulator without a socket of its own: it answers requests that the front door hands it. */
export type Emulator = { handle: RequestListener; close(): Promise<void> }

/** S3 and SQS by fauxqs: objects are files under `dir`/s3, queues are in SQLite under `dir`/sqs (see docs/decisions/emulators.md). */
export async function createS3AndSqs(dir: string): Promise<Emulator> {
  const modules = await loadModules()
  severalPerGroup(modules.SqsQueue)
  const stores: Stores = {
    sqsStore: new modules.SqsStore(),
    snsStore: new modules.SnsStore(),
    s3Store: inKeyOrder(new modules.S3Store()),
  }
  const queues = keepQueues(stores, new modules.PersistenceManager(join(dir, 'sqs')), (error) => {
    const fault = diskError(error, dir)
    return fault ? new modules.SqsError(diskFaultName, fault.message) : error
  })
  const objects = createObjectFiles(join(dir, 's3'), (code, message) => new modules.S3Error(code, message, 400))
  objects.loadS3(stores.s3Store)
  stores.s3Store.persistence = objects

  const app = buildApp({ logger: false, stores })
  app.addHook('preClose', (done) => {
    queues.close()
    done()
  })
  await app.ready()
  const handle = (request: IncomingMessage, response: ServerResponse) => app.server.emit('request', request, response)
  return { handle, close: () => app.close() }
}

/** `refusalOf`: the error that SQS answers for what SQLite threw. */
function keepQueues(
  { sqsStore, snsStore }: Stores,
  persistence: Persistence,
  refusalOf: (error: unknown) => unknown,
): Persistence {
  const database = databaseOf(persistence)
  // A commit outlives the process without waiting for the disk; only a power cut could take the last ones, as in LevelDB.
  database.exec('PRAGMA synchronous = NORMAL')
  // Its own statement nulls a column that may not be null, so that giving a message back would fail.
  const giveBack = database.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  )
  persistence.updateMessageReady = (messageId) => void giveBack.run(messageId)
  // Loading comes before the stores know their persistence, else it would write what it reads.
  persistence.loadSqsAndSns(sqsStore, snsStore)
  const guarded = throwing(persistence, refusalOf)
  sqsStore.persistence = guarded
  snsStore.persistence = guarded
  for (const queue of sqsStore.allQueues()) {
    queue.persistence = guarded
    // Who received a message is gone with the last process: waiting for its visibility timeout would help nobody.
    for (const receipt of [...queue.inflightMessages.keys()]) queue.changeVisibility(receipt, 0)
  }
  return persistence
}

/** The same, with other errors. */
function throwing(persistence: Persistence, errorOf: (error: unknown) => unknown): Persistence {
  return new Proxy(persistence, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...asked: unknown[]) => {
        try {
          return value.apply(target, asked)
        } catch (error) {
          throw errorOf(error)
        }
      }
    },
  })
}

/** Private in its types; the version is pinned. */
function databaseOf(persistence: Persistence): DatabaseSync {
  return (persistence as unknown as { db: DatabaseSync }).db
}

/** Modules that fauxqs does not export: its own start function would listen on all interfaces. */
async function loadModules(): Promise<Modules> {
  const root = import.meta.resolve('fauxqs')
  const paths = ['sqs/sqsStore.js', 'sns/snsStore.js', 's3/s3Store.js', 'persistence.js', 'common/errors.js']
  return Object.assign({}, ...(await mapConcurrently(paths, paths.length, (path) => import(new URL(path, root).href))))
}

/**
 * The emulator sorts a listing by the rules of a human language and continues it by code units, so that keys between
 * two pages get lost. S3 sorts by bytes, which for keys of ASCII are code units.
 */
function inKeyOrder(store: Stores['s3Store']): Stores['s3Store'] {
  const listAll = store.listObjects.bind(store)
  store.listObjects = (bucket, { startAfter, marker, maxKeys = 1000, ...scope } = {}) => {
    const all = listAll(bucket, { ...scope, maxKeys: Number.POSITIVE_INFINITY })
    const after = startAfter ?? marker ?? ''
    const entries = [...all.objects.map(({ key }) => key), ...all.commonPrefixes].filter((key) => key > after).sort()
    const page = new Set(entries.slice(0, maxKeys))
    return {
      objects: all.objects.filter(({ key }) => page.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1)),
      commonPrefixes: all.commonPrefixes.filter((prefix) => page.has(prefix)),
      isTruncated: entries.length > page.size,
    }
  }
  return store
}

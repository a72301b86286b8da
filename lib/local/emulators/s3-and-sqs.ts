import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { buildApp } from 'fauxqs'

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>
type Modules = {
  SqsStore: new () => Stores['sqsStore']
  SnsStore: new () => Stores['snsStore']
  S3Store: new () => Stores['s3Store']
  PersistenceManager: new (dir: string) => NonNullable<Stores['sqsStore']['persistence']>
}

/** An emulator without a socket of its own: it answers requests that the front door hands it. */
export type Emulator = { handle: RequestListener; close(): Promise<void> }

/** S3 and SQS by fauxqs, its state in SQLite under `dir` (see docs/decisions/emulators.md). */
export const createS3AndSqs = async (dir: string): Promise<Emulator> => {
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = await loadModules()
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: inKeyOrder(new S3Store()) }
  const persistence = new PersistenceManager(dir)
  // Loading comes before the stores know their persistence, else it would write what it reads.
  persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store)
  stores.sqsStore.persistence = persistence
  stores.snsStore.persistence = persistence
  stores.s3Store.persistence = persistence
  for (const queue of stores.sqsStore.allQueues()) queue.persistence = persistence

  const app = buildApp({ logger: false, stores })
  app.addHook('preClose', (done) => {
    persistence.close()
    done()
  })
  await app.ready()
  const handle = (request: IncomingMessage, response: ServerResponse) => app.server.emit('request', request, response)
  return { handle, close: () => app.close() }
}

/** Modules that fauxqs does not export: its own start function would listen on all interfaces. The version is pinned. */
const loadModules = async (): Promise<Modules> => {
  const root = import.meta.resolve('fauxqs')
  const paths = ['sqs/sqsStore.js', 'sns/snsStore.js', 's3/s3Store.js', 'persistence.js']
  return Object.assign({}, ...(await Promise.all(paths.map((path) => import(new URL(path, root).href)))))
}

/**
 * The emulator sorts a listing by the rules of a human language and continues it by code units, so that keys between
 * two pages get lost. S3 sorts by bytes, which for keys of ASCII are code units.
 */
const inKeyOrder = (store: Stores['s3Store']): Stores['s3Store'] => {
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

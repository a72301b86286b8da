import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FatalError } from '../../core/errors.ts'
import type { EndpointName } from './answer.ts'
import type { Controlled } from './control.ts'
import type { Limits } from './endpoints/limits.ts'
import { createFaultBook, type FaultBook } from './faults/book.ts'
import { type ResourceName, resourceNames, type SimulatorOptions, settingsOf } from './options.ts'
import { createRequestLog, type LoggedRequest } from './request-log.ts'
import { requestListener } from './serve.ts'
import { createWorld, type World } from './world.ts'

/** A running platform; everything it shows follows from its options and what was done to it. */
export type Simulator = Controlled & {
  readonly url: string
  /** {app_url}, the base address of the readiness reports. */
  readonly appUrl: string
  /** {base_url}, the base address of the v0 endpoints. */
  readonly baseUrl: string
  /** A record as it would be sent now, or undefined. */
  get(resource: ResourceName, id: string): unknown
  /** Sets all messages of a session to values, or to texts that are sent as they are. The session itself stays as it is. */
  putMessages(sessionId: string, records: readonly ({ value: unknown } | { text: string })[]): void
  /** The limits that were set: e-mail address in lower case -> limit. */
  readonly limits: Limits
  /** The newest requests, oldest first (at most 10,000). */
  readonly requests: readonly LoggedRequest[]
  /** How many requests each endpoint answered in all. */
  readonly counts: Readonly<Partial<Record<EndpointName, number>>>
  close(): Promise<void>
}

/** Starts a platform on a port of the loopback interface. @throws FatalError `usage` when the port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = settingsOf(options)
  const world = createWorld(settings)
  const book = createFaultBook(settings.seed)
  const limits: Limits = new Map()
  const log = createRequestLog()
  const controlled = controls({ world, book, limits, log })
  const server = createServer(requestListener({ settings, world, book, limits, log, simulator: controlled }))
  // Longer than any pause of a worker: a test that wants its connection closed says so with a fault.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => {
    server
      .once('error', (error) => reject(listenFailure(error, settings.port)))
      .listen(settings.port, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url, appUrl: url, baseUrl: url, ...controlled, close }
}

function listenFailure(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return error
  const message = `port ${port} can't be used: ${error.message}. Choose another one, or none for a free one`
  return new FatalError(message, { code: 'usage', cause: error })
}

function momentOf(world: World) {
  return { step: world.step(), now: new Date(world.now()).toISOString() }
}

type Parts = { world: World; book: FaultBook; limits: Limits; log: ReturnType<typeof createRequestLog> }

function controls({ world, book, limits, log }: Parts): Omit<Simulator, 'url' | 'appUrl' | 'baseUrl' | 'close'> {
  return {
    advance: ({ hours = 24 } = {}) => {
      world.advance(hours)
      return momentOf(world)
    },
    fault: book.add,
    faults: book.list,
    removeFault: book.remove,
    clearFaults: book.clear,
    get: (resource, id) => {
      const text = world.resources[resource].get(id)
      return text === undefined ? undefined : JSON.parse(text)
    },
    put: (resource, id, record) =>
      world.resources[resource].put(id, 'text' in record ? record.text : JSON.stringify(record.value)),
    putMessages: (sessionId, records) =>
      world.conversations.put(
        sessionId,
        records.map((record) => ('text' in record ? record.text : JSON.stringify(record.value))),
      ),
    remove: (resource, id) => world.resources[resource].remove(id),
    state: () => ({
      ...momentOf(world),
      records: Object.fromEntries(resourceNames.map((name) => [name, world.resources[name].count()])) as Record<
        ResourceName,
        number
      >,
      limits: Object.fromEntries(limits),
      faults: book.list(),
      requests: { ...log.counts },
    }),
    limits,
    requests: log.requests,
    counts: log.counts,
  }
}

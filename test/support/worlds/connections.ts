import type { SQSClient } from '@aws-sdk/client-sqs'
import type { HttpRequest } from '@smithy/types'
import type { StorageClients } from '../../../lib/stores/storage.ts'
import type { Call, Outside } from './outside.ts'

/** Clients for what is stored, and where a queue is wanted, too, for it. */
export type Clients = StorageClients & { sqs?: SQSClient }

/** Clients of one process, between which and the wire stands what is outside of it. */
export type Connection = { clients: Clients; join(outside: Outside): void }

/** Connections that processes use one after another: to set up clients takes longer than a small run. */
export type Connections = { take(): Connection; giveBack(connection: Connection): void; close(): void }

/** Connections made by `clients`. */
export function createConnections(clients: () => Clients): Connections {
  const all: Connection[] = []
  const free: Connection[] = []
  return {
    take: () => {
      const connection = free.pop() ?? connect(clients())
      if (!all.includes(connection)) all.push(connection)
      return connection
    },
    giveBack: (connection) => void free.push(connection),
    close: () => {
      for (const { clients } of all) clients.destroy()
    },
  }
}

function connect(clients: Clients): Connection {
  let joined: Outside | undefined
  const { dynamodb, s3, sqs } = clients
  for (const { config } of [dynamodb, s3, ...(sqs ? [sqs] : [])]) guard(config, () => joined!)
  return { clients, join: (outside) => (joined = outside) }
}

type Handler = { handle(request: HttpRequest, options?: object): Promise<unknown> }

function guard(config: object, outside: () => Outside) {
  const { requestHandler } = config as { requestHandler: Handler }
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = (request, options) => outside().send(nameOf(request), () => handle(request, options))
}

function nameOf({ method, path, query, headers }: HttpRequest): Omit<Call, 'n'> {
  const operation = headers['x-amz-target']?.split('.').at(-1)
  if (operation) return { name: operation, writes: /Write|Put|Update|Delete|Send/.test(operation) }
  return { name: `${method} ${path}${query?.prefix ?? ''}`, writes: method !== 'GET' }
}

/** The platform's address to all processes. */
export const platformAddress = 'http://platform.test'

/**
 * A fetch that an outside stands before, to wherever the platform is when the request leaves. A broken connection looks
 * as it does to the real one.
 */
export function fetchThrough(outside: Outside, platformUrl: () => string): typeof fetch {
  return async (url, init) => {
    const { pathname, search } = new URL(String(url))
    const name = `${init?.method ?? 'GET'} ${pathname}`
    try {
      return await outside.send({ name, writes: false }, () => fetch(`${platformUrl()}${pathname}${search}`, init))
    } catch (cause) {
      if ((cause as { code?: string }).code !== 'ECONNRESET') throw cause
      throw new TypeError('fetch failed', { cause })
    }
  }
}

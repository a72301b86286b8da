import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'

/** What a server does beside what PostgreSQL does; a test may change it at any time. */
export type Faults = {
  /** The password that it asks for. */
  password?: string
  /** Hangs up instead of running the statement with this number, from 0, counted anew in each connection. */
  hangsUpAt?: number
  /** What to do before the statement with this number runs. */
  before?: (statement: number, sql: string) => void
}

const sslRequest = 80_877_103

/**
 * PostgreSQL on loopback: an embedded database that speaks the protocol over TCP, with one session that the connections
 * have after each other. It can't read the rows of a COPY while they come, so that it gets them with the statement.
 */
export async function servePostgres(database: PGlite, faults: Faults = {}) {
  // Each has the session to itself, so that what one leaves is undone before the next begins.
  let session: Promise<unknown> = Promise.resolve()
  const server = createServer((socket) => {
    session = session.then(() => converse(socket, database, faults))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    address: `postgres://postgres@127.0.0.1:${port}/postgres`,
    faults,
    /** When the last connection has ended, and what it left has been undone. */
    idle: () => session,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

async function converse(socket: Socket, database: PGlite, faults: Faults): Promise<void> {
  // A client that hangs up has nothing more to hear.
  socket.on('error', () => {})
  let statement = -1
  let copy: Buffer[] | null = null
  const messages = messagesOf(socket)
  for (let next = await messages.next(); !next.done; next = await messages.next()) {
    const message = next.value
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'X') break
    if (message[0] === 0 && faults.password !== undefined && !(await knowsPassword(socket, messages, faults.password)))
      break
    if (type === 'Q') {
      statement++
      const sql = message.toString('utf8', 5, message.length - 1)
      faults.before?.(statement, sql)
      if (statement === faults.hangsUpAt) break
      if (/^copy .* from stdin$/.test(sql)) {
        copy = [message]
        socket.write(frame('G', Buffer.from([0, 0, 0])))
        continue
      }
    }
    if (copy) {
      copy.push(message)
      if (type === 'd') continue
    } else if ('dcf'.includes(type)) continue
    const answer = Buffer.from(await database.execProtocolRaw(copy ? Buffer.concat(copy) : message))
    // That it may send rows the client has been told.
    socket.write(copy ? answer.subarray(1 + answer.readInt32BE(1)) : answer)
    copy = null
  }
  socket.destroy()
  await database.exec('rollback; discard temp; select pg_advisory_unlock_all()')
}

/** The messages of a client, the greeting first. It is told that there is no TLS. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  let isGreeted = false
  try {
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const start = isGreeted ? 1 : 0
        if (rest.length < start + 4) break
        const end = start + rest.readInt32BE(start)
        if (rest.length < end) break
        const message = rest.subarray(0, end)
        rest = rest.subarray(end)
        if (!isGreeted && message.readInt32BE(4) === sslRequest) socket.write('N')
        else yield message
        isGreeted ||= message.readInt32BE(4) !== sslRequest
      }
    }
  } catch {
    // Cut off: there is nothing more to come.
  }
}

async function knowsPassword(socket: Socket, messages: AsyncGenerator<Buffer>, password: string): Promise<boolean> {
  socket.write(frame('R', Buffer.from([0, 0, 0, 3])))
  const answer = await messages.next()
  if (answer.value?.toString('utf8', 5) === `${password}\0`) return true
  const said = 'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "postgres"\0\0'
  socket.end(frame('E', Buffer.from(said)))
  await once(socket, 'finish')
  return false
}

function frame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

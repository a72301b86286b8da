import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from } from 'pg-copy-streams'
import { FatalError, RetryableError } from '../core/errors.ts'
import { postgresError } from './postgres-errors.ts'
import type { Warehouse } from './warehouse-run.ts'

/** The first version that has MERGE, as `server_version_num`. */
const oldestVersion = 150_000

const connectWithinMs = 15_000

/**
 * Connects to a PostgreSQL database: `where` is its name, or an address `postgres://...`; empty, or what that leaves
 * open, is as PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD and PGSSLMODE say. One load at a time works in a schema.
 * @throws FatalError `usage`, `configuration`, `unauthorized` or `forbidden`, RetryableError `unreachable` or `storage_unavailable`.
 */
export async function openPostgres(where: string, { schema }: { schema: string }): Promise<Warehouse> {
  const socket = new Socket()
  const client = clientOf(where, socket)
  if (!client.user) throw noUser()
  const place = { server: `${client.host}:${client.port}`, database: client.database ?? '', user: client.user ?? '' }
  let isConnected = false
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw postgresError(error, { ...place, isConnected })
    }
  }
  // The statement that a break hits tells of it, or the next one.
  client.on('error', () => {})
  const warehouse = {
    name: `${place.database} at ${place.server}`,
    run: (sql) => told(async () => void (await client.query(sql))),
    ask: (sql) => told(() => textsOf(client, sql)),
    copy: (sql, lines) => told(() => pipeline(Readable.from(lines), client.query(from(sql)))),
    close: () => client.end(),
  } satisfies Warehouse
  try {
    await told(() => client.connect())
    isConnected = true
    await refuseOlder(warehouse)
    await lock(warehouse, schema)
    return warehouse
  } catch (error) {
    // A goodbye would wait for what may be no PostgreSQL.
    socket.destroy()
    throw error
  }
}

/** An error never quotes `where`: it may hold a password. */
function clientOf(where: string, socket: Socket): pg.Client {
  const settings = {
    stream: () => socket,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    fallback_application_name: 'platform-sync',
  }
  const isAddress = /^postgres(ql)?:\/\//.test(where)
  if (!isAddress && /:\/\/|=/.test(where)) throw noPlace()
  if (where === '') return new pg.Client(settings)
  if (!isAddress) return new pg.Client({ ...settings, database: where })
  try {
    return new pg.Client({ ...settings, connectionString: where })
  } catch {
    throw noPlace()
  }
}

function noUser() {
  return new FatalError('No user is named for PostgreSQL: set PGUSER, or name one in the address behind --run.', {
    code: 'configuration',
  })
}

function noPlace() {
  return new FatalError(
    '--run takes the name of a database, or an address as postgres://USER@HOST:5432/DATABASE; the password is better in PGPASSWORD.',
    { code: 'usage' },
  )
}

async function textsOf(client: pg.Client, sql: string): Promise<string[][]> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
  return rows.map((row) => row.map((cell) => (cell === null ? '' : `${cell}`)))
}

async function refuseOlder({ ask, name }: Warehouse): Promise<void> {
  const [[version = '', number = ''] = []] = await ask(
    "select current_setting('server_version'), current_setting('server_version_num')",
  )
  if (Number(number) >= oldestVersion) return
  throw new FatalError(
    `${name} is of version ${version}, and a load needs PostgreSQL 15 or later: load into a newer one, or print the SQL where it is another warehouse (--for redshift).`,
    { code: 'configuration' },
  )
}

/** Two loads at once could bring a nested row twice. The lock ends with the connection. */
async function lock({ ask, name }: Warehouse, schema: string): Promise<void> {
  const [[isFree] = []] = await ask(`select pg_try_advisory_lock(hashtext('platform-sync ${schema}'))`)
  if (isFree === 'true') return
  throw new RetryableError(`Another load works in the schema ${schema} of ${name}: load again when it has ended.`, {
    code: 'storage_unavailable',
  })
}

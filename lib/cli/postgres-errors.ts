import pg from 'pg'
import { FatalError, RetryableError, SyncError } from '../core/errors.ts'

/** Where something failed; `isConnected`: whether the server had let us in before. */
type Place = { server: string; database: string; user: string; isConnected: boolean }

type Told = (place: Place, said: string) => SyncError

/**
 * What the driver threw, as one sentence that says what to do. Of what the server said it quotes the line alone: details
 * may hold values of rows, and so may the line where a value is what is wrong. What is none of the driver's errors stays as it is.
 */
export function postgresError(error: unknown, place: Place): unknown {
  // The rows that a statement waits for come from the lake, which tells its own troubles.
  if (error instanceof SyncError) return error
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (error instanceof pg.DatabaseError) {
    const tell = byState.find(([state]) => state.test(code))?.[1] ?? refused
    return tell(place, code.startsWith('22') ? code : `${code}: ${message}`)
  }
  if (/password must be a string/.test(message)) return notLetIn(place, 'it asks for a password, and there is none')
  if (/certificate|CERT|SSL|TLS/.test(`${code} ${message}`)) return noTls(place, message)
  if (/terminated|ECONNRESET|EPIPE/.test(`${code} ${message}`))
    return place.isConnected ? lost(place) : noPostgres(place)
  if (/timeout expired/.test(message) || unreachable.test(code)) return noServer(place, code || 'no answer in time')
  return error
}

const unreachable = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/

/** By the SQLSTATE; an answer that isn't PostgreSQL's has none. */
const byState: readonly (readonly [RegExp, Told])[] = [
  [/^$/, (place) => noPostgres(place)],
  [/^28/, notLetIn],
  [
    /^3D000/,
    ({ server, database }) =>
      configuration(
        `There is no database ${database} at ${server}: make it with "createdb ${database}", or name another one.`,
      ),
  ],
  [
    /^42501/,
    ({ database, user }, said) =>
      new FatalError(
        `The user ${user} may not load into ${database} (${said}): let it own the schema and its tables, or load as the user that does.`,
        { code: 'forbidden' },
      ),
  ],
  [
    /^42(703|P16|804)/,
    (_, said) =>
      configuration(
        `A table in the warehouse has other columns than this version loads (${said}): add them with "alter table", or drop the schema and load anew.`,
      ),
  ],
  [
    /^22/,
    ({ server }, said) =>
      new FatalError(
        `PostgreSQL at ${server} can't hold a value of the lake (${said}): load the other tables by their names, and read this one in place.`,
        { code: 'damaged_state' },
      ),
  ],
  [
    /^(08|40|53|55|57)/,
    ({ server }, said) =>
      new RetryableError(
        `PostgreSQL at ${server} can't go on now (${said}): load again later, which brings what is missing.`,
        { code: 'storage_unavailable' },
      ),
  ],
]

function refused({ server }: Place, said: string) {
  return configuration(`PostgreSQL at ${server} refused a statement (${said}): mend what it names, and load again.`)
}

function configuration(message: string) {
  return new FatalError(message, { code: 'configuration' })
}

function notLetIn({ server, user }: Place, said: string) {
  return new FatalError(
    `PostgreSQL at ${server} did not let in the user ${user} (${said}): set PGUSER and PGPASSWORD to those of one who may, and PGSSLMODE=require where it wants TLS.`,
    { code: 'unauthorized' },
  )
}

function noTls({ server }: Place, said: string) {
  return configuration(
    `There is no TLS with ${server} (${said}): set PGSSLMODE to what the server has, and NODE_EXTRA_CA_CERTS to the file of its authority.`,
  )
}

function noServer({ server }: Place, said: string) {
  return new RetryableError(
    `No PostgreSQL server answers at ${server} (${said}): start it, or name another one in PGHOST and PGPORT or behind --run.`,
    { code: 'unreachable' },
  )
}

function noPostgres({ server }: Place) {
  return configuration(
    `What answers at ${server} does not speak as PostgreSQL does: name a PostgreSQL server in PGHOST and PGPORT or behind --run.`,
  )
}

function lost({ server }: Place) {
  return new RetryableError(
    `The connection to PostgreSQL at ${server} was lost: load again, which brings what is missing.`,
    { code: 'unreachable' },
  )
}

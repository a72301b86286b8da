import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { postgresError } from '../../lib/cli/postgres-errors.ts'
import { FatalError, messageOf, RetryableError } from '../../lib/core/errors.ts'

const place = { server: 'db:5432', database: 'feed', user: 'loader', isConnected: true }

/** An error of the server, as the driver has it. */
function said(code: string, message: string) {
  return Object.assign(new pg.DatabaseError(message, 0, 'error'), { code, detail: 'Key (email)=(ada@example.com)' })
}

describe('what PostgreSQL says', () => {
  it.each([
    ['3D000', FatalError, 'There is no database feed at db:5432: make it with "createdb feed"'],
    ['28000', FatalError, 'did not let in the user loader'],
    ['53100', RetryableError, "can't go on now (53100: it said so): load again later"],
    ['57P01', RetryableError, 'load again later'],
    ['40P01', RetryableError, 'load again later'],
    ['42P16', FatalError, 'has other columns than this version loads'],
    ['54000', FatalError, 'refused a statement (54000: it said so)'],
  ])('by its state %s, without the details', (code, kind, words) => {
    const told = postgresError(said(code, 'it said so'), place)
    expect(told).toBeInstanceOf(kind)
    expect(messageOf(told)).toContain(words)
    expect((told as Error).cause).toBeUndefined()
    expect(messageOf(told)).not.toContain('ada@')
  })

  it('without the line that names a value', () => {
    const told = postgresError(said('22P02', 'invalid input syntax for type json: "ada@example.com"'), place)
    expect(messageOf(told)).toMatch(/can't hold a value of the lake \(22P02\): load the other tables/)
  })

  it('of a certificate, and of a break', () => {
    const certificate = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(messageOf(postgresError(certificate, place))).toMatch(/^There is no TLS with db:5432 .*: set PGSSLMODE/)
    const broken = new Error('Connection terminated unexpectedly')
    expect(messageOf(postgresError(broken, place))).toMatch(/was lost: load again/)
  })

  it('and leaves alone what is a fault of this program', () => {
    const bug = new TypeError('x is not a function')
    expect(postgresError(bug, place)).toBe(bug)
  })
})

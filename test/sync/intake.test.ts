import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'
import { createIntake } from '../../lib/sync/intake.ts'
import { createKeyTable, Kind } from '../../lib/sync/key-table.ts'
import { contextOf } from './support/context.ts'
import { pageOf, user, users } from './support/source.ts'

async function intakeOf() {
  const { context, clock } = await contextOf()
  const table = createKeyTable()
  const intake = createIntake(context, { table, state: { counts: Counts.parse({}), unkeyed: 0 } })
  const take = (records: Json[], pass = 1) => intake.take({ ...pageOf({ records, nextToken: null }), pass })
  return { intake, table, take, clock }
}

describe('the intake', () => {
  it('counts what each record is, and answers how many keys the pass had not seen', async () => {
    const { intake, take } = await intakeOf()
    expect(take([user(1), user(2), user(1), { email: 'without an id' }])).toBe(2)
    expect(take([user(2, { firstName: 'Ana' })])).toBe(0)
    expect(intake.state).toMatchObject({
      counts: { received: 5, inserted: 2, duplicate: 2, quarantined: 1 },
      unkeyed: 1,
    })
  })

  it('hands over what waits with its keys as they stood, and begins anew', async () => {
    const { intake, take } = await intakeOf()
    take([user(1)])
    const batch = intake.handOver()
    take([user(1, { firstName: 'Ana' })])
    expect([...batch.changes.keys()]).toEqual(['u1'])
    const [then] = batch.seen
    const [now] = intake.entries()
    expect(then?.hash).not.toEqual(now?.hash)
    expect(intake.isEmpty).toBe(false)
    intake.handOver()
    expect(intake.isEmpty).toBe(true)
  })

  it('takes a key for new again in a pass of its own, without counting it twice', async () => {
    const { intake, take } = await intakeOf()
    expect(take(users(2), 1)).toBe(2)
    expect(take(users(2), 2)).toBe(2)
    expect(intake.state.counts).toMatchObject({ received: 4, inserted: 2, duplicate: 2 })
  })

  it('is full when enough records wait, or when they have waited long enough', async () => {
    const { intake, take, clock } = await intakeOf()
    take(users(10))
    expect(intake.isFull).toBe(false)
    clock.advance(30_000)
    expect(intake.isFull).toBe(true)
    intake.handOver()
    take(users(5_000))
    expect(intake.isFull).toBe(true)
  })

  it('hands keys that are gone over as a batch of their own', async () => {
    const { intake, take } = await intakeOf()
    take([user(1), user(2)])
    intake.handOver()
    expect(intake.remove({ keys: ['u2'], parents: new Set() }, 1)).toMatchObject({
      deletes: ['u2'],
      seen: [{ key: 'u2', kind: Kind.deleted }],
    })
    expect(intake.state.counts.deleted).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { recordTable } from '../../lib/streams/schema-tables.ts'
import { approveDeletes } from '../../lib/sync/approve.ts'
import type { ObservedRecord, StreamObserver } from '../../lib/sync/ports.ts'
import { listOf, nestedUser, user, users } from './support/source.ts'
import { createWorld } from './support/world.ts'

const notes = recordTable(z.object({ note: z.string().describe('The note.') }), {
  name: 'notes',
  doc: 'What the observer of these tests writes.',
  key: ['note'],
})
const stream = { ...organizationUsers, observedTables: [notes] }
function source(...ids: number[]) {
  return listOf(ids.map((id) => user(id)))
}

/** A world whose users are observed; what the observer is told, in the order of telling. */
function observedWorld(answers: Partial<StreamObserver> = {}) {
  const told: unknown[] = []
  const observer: StreamObserver = {
    flushed: async (records: readonly ObservedRecord[]) => {
      const { lastScan, scan } = (await world.checkpoints.read(stream.name))!
      told.push({ flushed: records.map(({ record }) => record.id), durable: (scan ?? lastScan)?.counts.received })
    },
    completed: async ({ seen, withheld, writeRows }) => {
      told.push({ seen: [...seen()], ...(withheld === null ? {} : { withheld }) })
      await writeRows(notes, [{ note: `look ${told.length}` }])
      const notice = (severity: 'info' | 'critical', about: string) => ({ severity, code: 'c', about, message: 'm' })
      return {
        notices: [notice('info', 'a'), notice('critical', 'b')],
        acknowledge: async () => void told.push('acknowledged'),
      }
    },
    ...answers,
  }
  const world = createWorld({ observers: { [stream.name]: observer }, settings: { flushRecords: 2 } })
  return { world, told }
}

describe('an observer of a stream', () => {
  it('sees each record before the checkpoint moves past it, unchanged and odd ones, too, and acknowledges after the end', async () => {
    const { world, told } = observedWorld()
    await world.sync(stream, source(0, 1, 2))
    expect(told.splice(0)).toEqual([
      { flushed: ['u0', 'u1', 'u2'], durable: 0 },
      { seen: ['u0', 'u1', 'u2'] },
      'acknowledged',
    ])
    await world.sync(stream, listOf([user(0), user(1, { email: 5 }), user(3)]))
    expect(told).toEqual([{ flushed: ['u0', 'u1', 'u3'], durable: 0 }, { seen: ['u0', 'u1', 'u3'] }, 'acknowledged'])
  })

  it('is not shown what no table can take, and the run says so', async () => {
    const { world, told } = observedWorld()
    const { notices } = await world.sync(stream, listOf([user(0), nestedUser(1)]))
    expect(told[0]).toEqual({ flushed: ['u0'], durable: 0 })
    expect(notices).toContainEqual(
      expect.objectContaining({ severity: 'warning', code: 'quarantined', about: expect.stringContaining('1 record') }),
    )
  })

  it('has its rows published with the scan, and what it says is told, the gravest first', async () => {
    const { world } = observedWorld()
    const { notices } = await world.sync(stream, source(0), { runId: 'r' })
    expect(notices?.map(({ about }) => about)).toEqual(['b', 'a'])
    // A schedule that fires twice is told the same.
    expect(await world.sync(stream, source(0), { runId: 'r' })).toMatchObject({ notices })
    await world.publish([stream])
    expect(world.lake.publishedRows('notes')).toMatchObject([{ note: 'look 2', _op: 'upsert', _hash: null }])
  })

  it('stops the stream before its checkpoint moves when it can not keep what it saw', async () => {
    let broken = true
    const { world } = observedWorld({
      flushed: async () => {
        if (broken) throw new Error('full')
      },
    })
    await expect(world.sync(stream, source(0, 1, 2))).rejects.toThrow('full')
    expect((await world.checkpoints.read(stream.name))?.scan?.segments).toEqual([])
    broken = false
    expect(await world.sync(stream, source(0, 1, 2))).toMatchObject({ status: 'complete' })
  })

  it('sees suspect scans as they are, with the reason, and no approval, since that reads no list', async () => {
    const { world, told } = observedWorld()
    await world.sync(stream, listOf(users(20)))
    told.length = 0
    const { status, reason } = await world.sync(stream, source(0, 1))
    expect(status).toBe('suspect')
    expect(told).toContainEqual({ seen: ['u0', 'u1'], withheld: reason })
    told.length = 0
    const run = world.newRun()
    expect(await approveDeletes(stream, run, world.deps(source()))).toMatchObject({ status: 'complete' })
    expect(told).toEqual([])
  })

  it('does not see as listed what the scan deletes', async () => {
    const { world, told } = observedWorld()
    await world.sync(stream, source(0, 1, 2))
    await world.sync(stream, source(0, 1))
    expect(told).toContainEqual({ seen: ['u0', 'u1'] })
  })

  it('whose settling fails does not undo a scan that is complete', async () => {
    const { world } = observedWorld({
      completed: async () => ({ notices: [], acknowledge: () => Promise.reject(new Error('away')) }),
    })
    expect(await world.sync(stream, source(0))).toMatchObject({ status: 'complete' })
    expect(world.warnings).toContain('What was observed could not be acknowledged; the next scan tells it again.')
  })
})

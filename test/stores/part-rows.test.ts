import { describe, expect, it } from 'vitest'
import { encodePart, openPart, wholePart } from '../../lib/stores/part-rows.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Cell, columnsOf } from '../../lib/streams/table.ts'
import type { RowBatch } from '../../lib/sync/ports.ts'
import { allOf } from './samples.ts'

const table = sessions.tables[0]
const columns = columnsOf(table)
const names = columns.map(({ name }) => ({ name }))

function batchOf(rows: readonly Record<string, Cell>[]): RowBatch {
  return { table, columns: columns.map(({ name }) => rows.map((row) => row[name] ?? null)), rows: rows.length }
}

async function read(part: Uint8Array, wanted: readonly { name: string }[]) {
  const { groups } = await openPart(wholePart('a part', part))
  return await allOf(groups(wanted))
}

describe('a part of a scan', () => {
  it('gives back what it was made of, in the order of the key', async () => {
    const odd: Record<string, Cell>[] = [
      { session_id: 'c', _sequence: Number.MAX_SAFE_INTEGER, title: 'é😀\u0000', message_count: 3 },
      { session_id: 'a', assistant_active_time_ms: 0.1, _synced_at: Date.UTC(1970, 0, 1) },
      { session_id: 'b', title: '' },
    ]
    const [group, ...others] = await read(encodePart(batchOf(odd)), names)
    expect(others).toEqual([])
    const [c, a, b] = odd as [Record<string, Cell>, Record<string, Cell>, Record<string, Cell>]
    expect(group).toEqual(batchOf([a, b, c]).columns)
  })

  it('is read block by block, each of at most 500 rows', async () => {
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ session_id: `s${String(n).padStart(4, '0')}` }))
    const found = await read(encodePart(batchOf(rows.toReversed())), [{ name: 'session_id' }])
    const counts = found.map(([cells]) => cells?.length ?? 0)
    expect(counts.length).toBeGreaterThan(2)
    expect(Math.max(...counts)).toBeLessThanOrEqual(500)
    expect(found.flatMap(([cells]) => cells)).toEqual(rows.map((row) => row.session_id))
  })

  it('has blocks of some 64 KB of rows, and a row that is larger has one of its own', async () => {
    const rows = [1, 70_000, 70_000, 1, 1].map((length, n) => ({ session_id: `${n}`, title: 'x'.repeat(length) }))
    const found = await read(encodePart(batchOf(rows)), [{ name: 'session_id' }])
    expect(found).toEqual([[['0']], [['1']], [['2']], [['3', '4']]])
  })

  it('says so where its bytes make no sense', async () => {
    const whole = Buffer.from(encodePart(batchOf([{ session_id: 'a' }])))
    const fault = expect.objectContaining({ code: 'damaged_state' })
    for (const broken of [
      whole.subarray(0, 5),
      whole.subarray(0, -3),
      Buffer.from('PAR1 and more'),
      whole.fill(0, 20),
    ]) {
      await expect(read(broken, names)).rejects.toEqual(fault)
    }
  })

  it('has nulls for a column that was declared later', async () => {
    const part = encodePart(batchOf([{ session_id: 'a' }, { session_id: 'b' }]))
    expect(await read(part, [{ name: 'session_id' }, { name: 'of_tomorrow' }])).toEqual([
      [
        ['a', 'b'],
        [null, null],
      ],
    ])
  })

  it('of a later version is refused, and not taken for damaged', async () => {
    const later = Buffer.from(encodePart(batchOf([{ session_id: 'a' }])))
    later.write('APR2', 'latin1')
    const opening = openPart(wholePart('a part', later))
    await expect(opening).rejects.toMatchObject({ code: 'configuration' })
    await expect(opening).rejects.toThrow(/written by a later version .*\(APR2\)\. Deploy that version again\./)
  })

  it('takes no rows that are not those of its table', () => {
    const { columns: cells, ...rest } = batchOf([{ session_id: 'a' }])
    expect(() => encodePart({ ...rest, columns: cells.slice(1) })).toThrow(/1 rows are declared/)
  })
})

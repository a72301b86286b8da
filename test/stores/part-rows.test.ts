import { describe, expect, it } from 'vitest'
import { encodePart, isPart, openPart } from '../../lib/stores/part-rows.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { type Cell, columnsOf } from '../../lib/streams/table.ts'
import type { RowBatch } from '../../lib/sync/ports.ts'

const table = sessions.tables[0]
const columns = columnsOf(table)
const names = columns.map(({ name }) => ({ name }))

function batchOf(rows: readonly Record<string, Cell>[]): RowBatch {
  return { table, columns: columns.map(({ name }) => rows.map((row) => row[name] ?? null)), rows: rows.length }
}

describe('a part of a scan', () => {
  it('gives back what it was made of, in the order of the key', () => {
    const odd: Record<string, Cell>[] = [
      { session_id: 'c', _sequence: Number.MAX_SAFE_INTEGER, title: 'é😀\u0000', message_count: 3 },
      { session_id: 'a', assistant_active_time_ms: 0.1, _synced_at: Date.UTC(1970, 0, 1) },
      { session_id: 'b', title: '' },
    ]
    const [group, ...others] = [...openPart(encodePart(batchOf(odd))).groups(names)]
    expect(others).toEqual([])
    const [c, a, b] = odd as [Record<string, Cell>, Record<string, Cell>, Record<string, Cell>]
    expect(group).toEqual(batchOf([a, b, c]).columns)
  })

  it('is read block by block, each of at most 500 rows', () => {
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ session_id: `s${String(n).padStart(4, '0')}` }))
    const { groups, unpackedBytes } = openPart(encodePart(batchOf(rows.toReversed())))
    const found = [...groups([{ name: 'session_id' }])]
    expect(found.map(([cells]) => cells?.length)).toEqual([500, 500, 200])
    expect(found.flatMap(([cells]) => cells)).toEqual(rows.map((row) => row.session_id))
    expect(unpackedBytes).toBeGreaterThan(1_200 * 6)
  })

  it('has nulls for a column that was declared later', () => {
    const { groups } = openPart(encodePart(batchOf([{ session_id: 'a' }, { session_id: 'b' }])))
    expect([...groups([{ name: 'session_id' }, { name: 'of_tomorrow' }])]).toEqual([
      [
        ['a', 'b'],
        [null, null],
      ],
    ])
  })

  it('of a later version is refused, and not taken for damaged', () => {
    const later = Buffer.from(encodePart(batchOf([{ session_id: 'a' }])))
    later.write('APR2', 'latin1')
    expect(isPart(later)).toBe(true)
    const open = () => openPart(later)
    expect(open).toThrow(expect.objectContaining({ code: 'configuration' }))
    expect(open).toThrow(/written by a later version .*\(APR2\)\. Deploy that version again\./)
  })

  it('takes no rows that are not those of its table', () => {
    const { columns: cells, ...rest } = batchOf([{ session_id: 'a' }])
    expect(() => encodePart({ ...rest, columns: cells.slice(1) })).toThrow(/1 rows are declared/)
  })
})

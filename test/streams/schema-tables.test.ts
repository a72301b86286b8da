import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { id, resource, timeText } from '../../lib/platform/fields.ts'
import { nestedTable, recordTable } from '../../lib/streams/schema-tables.ts'
import type { Table } from '../../lib/streams/table.ts'
import { rowsOf } from './fixtures.ts'

const Part = resource(() => ({
  id: id().describe('Id of the part.'),
  madeAt: timeText().nullish().describe('When it was made.'),
}))
const Machine = resource(() => ({
  machineId: id().describe('Id of the machine.'),
  maker: z.string().nullish().describe('Who made it.'),
  parts: z.array(Part).nullish().describe('Its parts.'),
  spare: resource(() => ({ byPlace: z.record(z.string(), Part).nullish().describe('By place.') })).nullish(),
}))
const declared = { name: 'parts', doc: 'Parts.', parentKey: { field: 'machineId', column: 'machine_id' } } as const
const place = { column: 'position', doc: 'Place in the list.' }

describe('a table of records', () => {
  it('has a row per record, a column per field, and what else was declared', () => {
    const table = recordTable(Machine, {
      name: 'machines',
      doc: 'Machines.',
      key: ['machine_id'],
      fields: { parts: 'left_out', spare: { column: 'spare', doc: 'Spare parts.' } },
    })
    expect(table).toMatchObject({ name: 'machines', doc: 'Machines.', key: ['machine_id'] })
    expect(rowsOf(table as Table, [{ machineId: 'm', maker: 'x', parts: [{ id: 'p' }] }, { machineId: 'n' }])).toEqual([
      { machine_id: 'm', maker: 'x', spare: null },
      { machine_id: 'n', maker: null, spare: null },
    ])
  })
})

describe('a nested table', () => {
  it('has a row per element of a list, keyed by its record and its place', () => {
    const table = nestedTable(Machine, 'parts', {
      ...declared,
      elementKey: place,
      fields: { id: { column: 'part_id' } },
      parentFields: ['maker'],
    })
    expect(table.key).toEqual(['machine_id', 'position'])
    expect(table.columns.map(({ type, doc }) => `${type}: ${doc}`)).toEqual([
      'string: Id of the machine.',
      'int64: Place in the list.',
      'string: Id of the part.',
      'timestamp: When it was made.',
      'string: Who made it.',
    ])
    const parts = [{ id: 'a', madeAt: '2026-05-06' }, { id: 'b' }]
    expect(rowsOf(table as Table, [{ machineId: 'm', maker: 'x', parts }])).toEqual([
      { machine_id: 'm', position: 0, part_id: 'a', made_at: Date.UTC(2026, 4, 6), maker: 'x' },
      { machine_id: 'm', position: 1, part_id: 'b', made_at: null, maker: 'x' },
    ])
  })

  it('has a row per value of a map, keyed by its record and its key, wherever the map stands', () => {
    const elementKey = { column: 'place', doc: 'Where it lies.' }
    const table = nestedTable(Machine, 'spare.byPlace', { ...declared, elementKey }) as Table
    expect(table.columns[1]).toMatchObject({ name: 'place', type: 'string' })
    const spare = { byPlace: { '7': { id: 'a' }, left: { id: 'b' } } }
    expect(rowsOf(table, [{ machineId: 'm', spare }])).toMatchObject([
      { machine_id: 'm', place: '7', id: 'a' },
      { machine_id: 'm', place: 'left', id: 'b' },
    ])
  })

  it('has no row for a list that is empty, null or absent', () => {
    const lists = nestedTable(Machine, 'parts', { ...declared, elementKey: place }) as Table
    const maps = nestedTable(Machine, 'spare.byPlace', { ...declared, elementKey: place }) as Table
    const machines = [{}, { parts: null, spare: null }, { parts: [], spare: {} }, { spare: { byPlace: {} } }]
    const records = machines.map((machine) => ({ machineId: 'm', ...machine }))
    expect([...rowsOf(lists, records), ...rowsOf(maps, records)]).toEqual([])
  })

  it('is refused where there is no list or map of objects', () => {
    const names = Machine.extend({ names: z.array(z.string()).describe('Names.') })
    const options = { ...declared, elementKey: place }
    expect(() => nestedTable(names, 'names', options).columns).toThrow(/"names" is no list or map of objects/)
    expect(() => nestedTable(names, 'maker', options).columns).toThrow(/"maker" is no list or map of objects/)
    expect(() => nestedTable(names, 'pieces', options).columns).toThrow(/no field "pieces"/)
  })
})

import * as z from 'zod'
import { identifiedColumnsOf } from '../../streams/field-ids.ts'
import type { Table } from '../../streams/table.ts'
import { icebergTypes } from './values.ts'

const Field = z.object({
  id: z.int(),
  name: z.string(),
  required: z.boolean(),
  type: z.string(),
  doc: z.string().optional(),
})

/** Columns of a table as Iceberg writes them down. */
export const Schema = z.object({
  type: z.literal('struct'),
  'schema-id': z.int(),
  fields: z.array(Field),
})
export type Schema = z.infer<typeof Schema>

/** How a table's files are divided: by day, or not at all. */
export const PartitionSpec = z.object({
  'spec-id': z.int(),
  fields: z.array(z.object({ name: z.string(), transform: z.string(), 'source-id': z.int(), 'field-id': z.int() })),
})
export type PartitionSpec = z.infer<typeof PartitionSpec>

/** The order of rows in a file. */
export const SortOrder = z.object({
  'order-id': z.int(),
  fields: z.array(
    z.object({ transform: z.string(), 'source-id': z.int(), direction: z.string(), 'null-order': z.string() }),
  ),
})
export type SortOrder = z.infer<typeof SortOrder>

/** The fields of a table. All are optional: an old file may lack a column. */
export function fieldsOf(table: Table): Schema['fields'] {
  return identifiedColumnsOf(table).map(({ id, name, type, doc }) => {
    return { id, name, required: false, type: icebergTypes[type], doc }
  })
}

/** Finds columns by name in files without ids, which earlier versions wrote. */
export function nameMappingOf(table: Table): string {
  return JSON.stringify(identifiedColumnsOf(table).map(({ id, name }) => ({ 'field-id': id, names: [name] })))
}

/** The id of the partition field: Iceberg counts them from 1000. */
export const dayFieldId = 1000
/** The partition field's name. */
export const dayField = '_synced_at_day'

/** The partition spec of a table: its change log goes by the day of `_synced_at`, its current state is one. */
export function specOf(table: Table, { byDay }: { byDay: boolean }): PartitionSpec {
  const source = identifiedColumnsOf(table).find(({ name }) => name === '_synced_at')
  const day = { name: dayField, transform: 'day', 'source-id': source?.id ?? 0, 'field-id': dayFieldId }
  return { 'spec-id': 0, fields: byDay ? [day] : [] }
}

/** The id of the order by key. 0 is reserved for none. */
export const keyOrderId = 1

/** Orders of rows that a table's files may have: none, or by key. */
export function sortOrdersOf(table: Table): SortOrder[] {
  const columns = identifiedColumnsOf(table)
  const idOf = (name: string) => columns.find((column) => column.name === name)?.id ?? 0
  const byKey = table.key.map((name) => {
    return { transform: 'identity', 'source-id': idOf(name), direction: 'asc', 'null-order': 'nulls-first' }
  })
  return [
    { 'order-id': 0, fields: [] },
    { 'order-id': keyOrderId, fields: byKey },
  ]
}

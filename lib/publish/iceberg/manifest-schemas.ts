import type { AvroSchema } from './avro.ts'
import { dayFieldId, type PartitionSpec } from './schema.ts'

function field(id: number, name: string, type: unknown) {
  return { name, type, 'field-id': id }
}

function optional(id: number, name: string, type: unknown) {
  return { name, type: ['null', type], default: null, 'field-id': id }
}

/** Iceberg's map with whole numbers as keys, which Avro's own maps can't have. */
function mapOf(keyId: number, valueId: number, value: string) {
  const name = `k${keyId}_v${valueId}`
  const fields = [field(keyId, 'key', 'int'), field(valueId, 'value', value)]
  return { type: 'array', logicalType: 'map', items: { type: 'record', name, fields } }
}

function dataFile({ fields }: PartitionSpec) {
  const days = fields.map(({ name }) => optional(dayFieldId, name, { type: 'int', logicalType: 'date' }))
  return {
    type: 'record',
    name: 'r2',
    fields: [
      field(134, 'content', 'int'),
      field(100, 'file_path', 'string'),
      field(101, 'file_format', 'string'),
      field(102, 'partition', { type: 'record', name: 'r102', fields: days }),
      field(103, 'record_count', 'long'),
      field(104, 'file_size_in_bytes', 'long'),
      optional(109, 'value_counts', mapOf(119, 120, 'long')),
      optional(110, 'null_value_counts', mapOf(121, 122, 'long')),
      optional(125, 'lower_bounds', mapOf(126, 127, 'bytes')),
      optional(128, 'upper_bounds', mapOf(129, 130, 'bytes')),
      optional(140, 'sort_order_id', 'int'),
    ],
  }
}

/** The Avro schema of a manifest: one entry per data file. */
export function manifestSchema(spec: PartitionSpec): AvroSchema {
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      field(2, 'data_file', dataFile(spec)),
    ],
  }
}

const partitionSummary = {
  type: 'record',
  name: 'r508',
  fields: [
    field(509, 'contains_null', 'boolean'),
    optional(518, 'contains_nan', 'boolean'),
    optional(510, 'lower_bound', 'bytes'),
    optional(511, 'upper_bound', 'bytes'),
  ],
}

/** The Avro schema of a manifest list: one entry per manifest of a snapshot. */
export const manifestListSchema: AvroSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', { type: 'array', items: partitionSummary, 'element-id': 508 }),
  ],
}

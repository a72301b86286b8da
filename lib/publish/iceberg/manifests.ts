import * as z from 'zod'
import { decodeAvro, encodeAvro } from './avro.ts'
import { manifestListSchema, manifestSchema } from './manifest-schemas.ts'
import { dayField, type PartitionSpec, type Schema } from './schema.ts'
import type { ColumnStatistics } from './statistics.ts'
import { encodeDay } from './values.ts'

/** A Parquet file of a table. `path` is its full address. */
export type DataFile = {
  path: string
  rows: number
  bytes: number
  /** The partition: days since 1970, in a table that goes by day. */
  day: number | null
  statistics: readonly ColumnStatistics[]
  sortOrderId: number | null
}

/** What a snapshot says of a file. An added one has no sequence numbers: it takes those of the commit that lists it. */
export type ManifestEntry = {
  status: 'existing' | 'added' | 'deleted'
  snapshotId: number
  sequence: number | null
  file: DataFile
}

const statuses = ['existing', 'added', 'deleted'] as const
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array)
function counts<V extends z.ZodType>(value: V) {
  return z.array(z.object({ key: z.int(), value })).nullable()
}

const EntryRecord = z.object({
  status: z.int().min(0).max(2),
  snapshot_id: z.number(),
  sequence_number: z.int().nullable(),
  data_file: z.object({
    file_path: z.string(),
    partition: z.looseObject({ [dayField]: z.int().nullish() }),
    record_count: z.int(),
    file_size_in_bytes: z.int(),
    value_counts: counts(z.int()),
    null_value_counts: counts(z.int()),
    lower_bounds: counts(bytes),
    upper_bounds: counts(bytes),
    sort_order_id: z.int().nullable(),
  }),
})
type EntryRecord = z.infer<typeof EntryRecord>

/** A manifest: files of a table, as Avro. */
export function encodeManifest(
  entries: readonly ManifestEntry[],
  { schema, spec }: { schema: Schema; spec: PartitionSpec },
): Uint8Array {
  const header = {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'partition-spec': JSON.stringify(spec.fields),
    'partition-spec-id': String(spec['spec-id']),
    'format-version': '2',
    content: 'data',
  }
  return encodeAvro(manifestSchema(spec), { header, records: entries.map((entry) => recordOf(entry, spec)) })
}

function recordOf({ status, snapshotId, sequence, file }: ManifestEntry, { fields }: PartitionSpec) {
  const { statistics, day } = file
  const pairs = <V>(value: (of: ColumnStatistics) => V | null) =>
    statistics.flatMap((of) => {
      const found = value(of)
      return found === null ? [] : [{ key: of.id, value: found }]
    })
  return {
    status: statuses.indexOf(status),
    snapshot_id: snapshotId,
    sequence_number: sequence,
    file_sequence_number: sequence,
    data_file: {
      content: 0,
      file_path: file.path,
      file_format: 'PARQUET',
      partition: fields.length > 0 ? { [dayField]: day } : {},
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      value_counts: pairs(({ values }) => values),
      null_value_counts: pairs(({ nulls }) => nulls),
      lower_bounds: pairs(({ lower }) => lower && Buffer.from(lower)),
      upper_bounds: pairs(({ upper }) => upper && Buffer.from(upper)),
      sort_order_id: file.sortOrderId,
    },
  }
}

/** The entries of a manifest. `sequence` is the manifest's own: entries that it added have it. */
export function decodeManifest(
  file: Uint8Array,
  { path, sequence }: { path: string; sequence: number },
): ManifestEntry[] {
  const { records } = decodeAvro(file, path)
  return records.map((record) => {
    const entry = EntryRecord.parse(record)
    const status = statuses[entry.status] ?? 'existing'
    return { status, snapshotId: entry.snapshot_id, sequence: entry.sequence_number ?? sequence, file: fileOf(entry) }
  })
}

function fileOf({ data_file: file }: EntryRecord): DataFile {
  const find = <V>(pairs: { key: number; value: V }[] | null, id: number) => pairs?.find(({ key }) => key === id)?.value
  const statistics = (file.value_counts ?? []).map(({ key: id, value: values }) => ({
    ...{ id, values },
    nulls: find(file.null_value_counts, id) ?? 0,
    lower: find(file.lower_bounds, id) ?? null,
    upper: find(file.upper_bounds, id) ?? null,
  }))
  return {
    path: file.file_path,
    rows: file.record_count,
    bytes: file.file_size_in_bytes,
    day: file.partition[dayField] ?? null,
    statistics,
    sortOrderId: file.sort_order_id,
  }
}

/** A manifest as the manifest list of a snapshot names it. */
const ManifestFile = z.object({
  manifest_path: z.string(),
  manifest_length: z.int(),
  partition_spec_id: z.int(),
  content: z.int(),
  sequence_number: z.int(),
  min_sequence_number: z.int(),
  added_snapshot_id: z.number(),
  added_files_count: z.int(),
  existing_files_count: z.int(),
  deleted_files_count: z.int(),
  added_rows_count: z.int(),
  existing_rows_count: z.int(),
  deleted_rows_count: z.int(),
  partitions: z
    .array(
      z.object({
        contains_null: z.boolean(),
        contains_nan: z.boolean().nullable(),
        lower_bound: bytes.nullable(),
        upper_bound: bytes.nullable(),
      }),
    )
    .nullable(),
})
export type ManifestFile = z.infer<typeof ManifestFile>

/** How a manifest list names a manifest that a commit wrote. */
export function manifestFileOf(
  entries: readonly ManifestEntry[],
  { path, length, spec, commit }: { path: string; length: number; spec: PartitionSpec; commit: Commit },
): ManifestFile {
  const of = (status: ManifestEntry['status']) => entries.filter((entry) => entry.status === status)
  const rows = (status: ManifestEntry['status']) => of(status).reduce((sum, { file }) => sum + file.rows, 0)
  const live = entries.filter(({ status }) => status !== 'deleted')
  const days = live.flatMap(({ file: { day } }) => (day === null ? [] : [day]))
  const bound = (day: number) => (days.length === 0 ? null : encodeDay(day))
  const least = days.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = days.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const byDay = { contains_null: days.length < live.length, contains_nan: false }
  return {
    manifest_path: path,
    manifest_length: length,
    partition_spec_id: spec['spec-id'],
    content: 0,
    sequence_number: commit.sequence,
    min_sequence_number: live.reduce(
      (least, { sequence }) => Math.min(least, sequence ?? commit.sequence),
      commit.sequence,
    ),
    added_snapshot_id: commit.snapshotId,
    added_files_count: of('added').length,
    existing_files_count: of('existing').length,
    deleted_files_count: of('deleted').length,
    added_rows_count: rows('added'),
    existing_rows_count: rows('existing'),
    deleted_rows_count: rows('deleted'),
    partitions: spec.fields.map(() => ({ ...byDay, lower_bound: bound(least), upper_bound: bound(most) })),
  }
}

/** The commit that makes a snapshot. */
export type Commit = { snapshotId: number; parentId: number | null; sequence: number }

/** A manifest list, as Avro. */
export function encodeManifestList(manifests: readonly ManifestFile[], { snapshotId, parentId, sequence }: Commit) {
  const header = {
    'snapshot-id': String(snapshotId),
    'parent-snapshot-id': String(parentId),
    'sequence-number': String(sequence),
    'format-version': '2',
  }
  const buffered = (value: Uint8Array | null) => value && Buffer.from(value)
  const records = manifests.map(({ partitions, ...manifest }) => ({
    ...manifest,
    partitions: (partitions ?? []).map(({ lower_bound, upper_bound, ...rest }) => {
      return { ...rest, lower_bound: buffered(lower_bound), upper_bound: buffered(upper_bound) }
    }),
  }))
  return encodeAvro(manifestListSchema, { header, records })
}

/** The manifests of a manifest list. */
export function decodeManifestList(file: Uint8Array, path: string): ManifestFile[] {
  return decodeAvro(file, path).records.map((record) => ManifestFile.parse(record))
}

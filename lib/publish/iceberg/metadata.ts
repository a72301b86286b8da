import * as z from 'zod'
import type { Table } from '../../streams/table.ts'
import type { Commit } from './manifests.ts'
import {
  fieldsOf,
  keyOrderId,
  nameMappingOf,
  PartitionSpec,
  Schema,
  SortOrder,
  sortOrdersOf,
  specOf,
} from './schema.ts'

const Snapshot = z.object({
  'snapshot-id': z.int(),
  'parent-snapshot-id': z.int().optional(),
  'sequence-number': z.int(),
  'timestamp-ms': z.int(),
  'manifest-list': z.string(),
  'schema-id': z.int(),
  summary: z.looseObject({ operation: z.string() }).catchall(z.string()),
})
/** A state of a table that readers can ask for. */
export type Snapshot = z.infer<typeof Snapshot>

/** A table as Iceberg describes it: which snapshots it has, and how its columns, partitions and order are. */
export const TableMetadata = z.object({
  'format-version': z.literal(2),
  'table-uuid': z.string(),
  location: z.string(),
  'last-sequence-number': z.int(),
  'last-updated-ms': z.int(),
  'last-column-id': z.int(),
  'current-schema-id': z.int(),
  schemas: z.array(Schema),
  'default-spec-id': z.int(),
  'partition-specs': z.array(PartitionSpec),
  'last-partition-id': z.int(),
  'default-sort-order-id': z.int(),
  'sort-orders': z.array(SortOrder),
  properties: z.record(z.string(), z.string()),
  'current-snapshot-id': z.int(),
  refs: z.record(z.string(), z.object({ 'snapshot-id': z.int(), type: z.string() })),
  snapshots: z.array(Snapshot),
  'snapshot-log': z.array(z.object({ 'snapshot-id': z.int(), 'timestamp-ms': z.int() })),
  'metadata-log': z.array(z.object({ 'metadata-file': z.string(), 'timestamp-ms': z.int() })),
})
export type TableMetadata = z.infer<typeof TableMetadata>

/** Iceberg's way to say that there is no snapshot yet. */
const noSnapshot = -1
const nameMapping = 'schema.name-mapping.default'

/** The metadata of a table that holds nothing. */
export function emptyTable(
  table: Table,
  { uuid, location, byDay, now }: { uuid: string; location: string; byDay: boolean; now: number },
): TableMetadata {
  const fields = fieldsOf(table)
  const spec = specOf(table, { byDay })
  return {
    'format-version': 2,
    'table-uuid': uuid,
    location,
    'last-sequence-number': 0,
    'last-updated-ms': now,
    'last-column-id': highestId(fields),
    'current-schema-id': 0,
    schemas: [{ type: 'struct', 'schema-id': 0, fields }],
    'default-spec-id': spec['spec-id'],
    'partition-specs': [spec],
    'last-partition-id': Math.max(999, ...spec.fields.map((field) => field['field-id'])),
    'default-sort-order-id': keyOrderId,
    'sort-orders': sortOrdersOf(table),
    properties: {
      comment: table.doc,
      'write.format.default': 'parquet',
      // Their removal by other hands would take files that manifests of the change log list.
      'gc.enabled': 'false',
      [nameMapping]: nameMappingOf(table),
    },
    'current-snapshot-id': noSnapshot,
    refs: {},
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
  }
}

function highestId(fields: Schema['fields']): number {
  return fields.reduce((highest, { id }) => Math.max(highest, id), 0)
}

/** The schema that a table has. */
export function schemaOf(metadata: TableMetadata): Schema {
  const { schemas, 'current-schema-id': id } = metadata
  return schemas.find((schema) => schema['schema-id'] === id)!
}

/** The partition spec that a table has. */
export function currentSpecOf(metadata: TableMetadata): PartitionSpec {
  const { 'partition-specs': specs, 'default-spec-id': id } = metadata
  return specs.find((spec) => spec['spec-id'] === id)!
}

/** The snapshot that readers see; null while there is none. */
export function currentSnapshot({ snapshots, 'current-snapshot-id': id }: TableMetadata): Snapshot | null {
  return snapshots.find((snapshot) => snapshot['snapshot-id'] === id) ?? null
}

/** Gives a table the columns that are declared. Old files are read with null in a column that they lack. */
export function withDeclaredColumns(metadata: TableMetadata, table: Table): TableMetadata {
  const fields = fieldsOf(table)
  if (JSON.stringify(fields) === JSON.stringify(schemaOf(metadata).fields)) return metadata
  const id = metadata.schemas.reduce((highest, schema) => Math.max(highest, schema['schema-id']), -1) + 1
  return {
    ...metadata,
    'last-column-id': Math.max(metadata['last-column-id'], highestId(fields)),
    'current-schema-id': id,
    schemas: [...metadata.schemas, { type: 'struct', 'schema-id': id, fields }],
    properties: { ...metadata.properties, [nameMapping]: nameMappingOf(table) },
  }
}

/** What a commit adds to a table's history. */
export type SnapshotDraft = { commit: Commit; manifestList: string; summary: Snapshot['summary']; now: number }

/** Makes a snapshot the one that readers see. Times never run backwards, whatever the clock does. */
export function withSnapshot(
  metadata: TableMetadata,
  { commit, manifestList, summary, now }: SnapshotDraft,
): TableMetadata {
  const { snapshotId, parentId, sequence } = commit
  const at = Math.max(now, metadata['last-updated-ms'])
  const snapshot: Snapshot = {
    'snapshot-id': snapshotId,
    ...(parentId === null ? {} : { 'parent-snapshot-id': parentId }),
    'sequence-number': sequence,
    'timestamp-ms': at,
    'manifest-list': manifestList,
    'schema-id': metadata['current-schema-id'],
    summary,
  }
  return {
    ...metadata,
    'last-sequence-number': sequence,
    'last-updated-ms': at,
    'current-snapshot-id': snapshotId,
    refs: { main: { 'snapshot-id': snapshotId, type: 'branch' } },
    snapshots: [...metadata.snapshots, snapshot],
    'snapshot-log': [...metadata['snapshot-log'], { 'snapshot-id': snapshotId, 'timestamp-ms': at }],
  }
}

/** How long old snapshots can be asked for: each for so many days, and so many of them however old they are. */
export type SnapshotRetention = { days: number; snapshots: number }

const dayMs = 86_400_000

/** Takes the snapshots out of a table whose time is over; answers them, oldest first. The current one is never among them. */
export function expire(
  metadata: TableMetadata,
  { days, snapshots: least }: SnapshotRetention,
  now: number,
): { metadata: TableMetadata; expired: Snapshot[] } {
  const { snapshots, 'current-snapshot-id': current } = metadata
  const firstSafe = snapshots.length - Math.max(least, 1)
  const isOver = (snapshot: Snapshot, at: number) =>
    at < firstSafe && snapshot['timestamp-ms'] < now - days * dayMs && snapshot['snapshot-id'] !== current
  const expired = snapshots.filter(isOver)
  const kept = snapshots.filter((snapshot) => !expired.includes(snapshot))
  const ids = new Set(kept.map((snapshot) => snapshot['snapshot-id']))
  const log = metadata['snapshot-log'].filter((entry) => ids.has(entry['snapshot-id']))
  return { metadata: { ...metadata, snapshots: kept, 'snapshot-log': log }, expired }
}

/** How many metadata files stay besides the current one. */
const metadataFiles = 20

/** Notes the metadata file that this one replaces; answers those that are not worth keeping any more. */
export function withPrevious(
  metadata: TableMetadata,
  { path, updatedAt }: { path: string; updatedAt: number },
): { metadata: TableMetadata; dropped: string[] } {
  const log = [...metadata['metadata-log'], { 'metadata-file': path, 'timestamp-ms': updatedAt }]
  const kept = log.slice(-metadataFiles)
  const dropped = log.slice(0, log.length - kept.length).map((entry) => entry['metadata-file'])
  return { metadata: { ...metadata, 'metadata-log': kept }, dropped }
}

import type { IdentifiedColumn } from './field-ids.ts'
import type { Column, Table } from './table.ts'

/** The table of the lake that tells how runs went: a row per run and stream, also of runs that changed nothing. */
export const runsTable = {
  name: '_runs',
  doc: 'How each run went, stream by stream, and how fresh each stream was when it ended. A run that changed nothing has its rows here, and nowhere else.',
  key: ['run_id', 'stream'],
} as const satisfies Pick<Table, 'name' | 'doc' | 'key'>

function counted(name: string, doc: string): Column {
  return { name, type: 'int64', doc: `${doc} Of this run alone, also where its scan took several.` }
}

/** Ids follow the order, so that it only ever grows at its end. */
const declared: readonly Column[] = [
  { name: 'run_id', type: 'string', doc: 'The run, as `_run_id` of the tables names it.' },
  { name: 'schedule', type: 'string', doc: 'The schedule that started it; null where a person did.' },
  { name: 'scheduled_at', type: 'timestamp', doc: 'When the run was due.' },
  { name: 'finished_at', type: 'timestamp', doc: 'When it had ended, and what it changed was published.' },
  { name: 'run_status', type: 'string', doc: 'How the whole run ended: complete, partial or failed.' },
  { name: 'stream', type: 'string', doc: 'The stream that this row is about.' },
  {
    name: 'status',
    type: 'string',
    doc: 'How the stream ended: complete, suspect, skipped, failed, rate_limited, paused or running.',
  },
  { name: 'reason', type: 'string', doc: 'Why it is not complete; null where it is.' },
  {
    name: 'complete_at',
    type: 'timestamp',
    doc: 'How fresh the tables of the stream were after the run: when the last scan began that read its list whole. Null where there was none.',
  },
  { name: 'scan_ended_at', type: 'timestamp', doc: 'When its last scan ended, complete or not.' },
  { name: 'records', type: 'int64', doc: 'Records that were there after its last scan.' },
  counted('received', 'Records that the platform sent, repeats included.'),
  counted('inserted', 'Records that were new.'),
  counted('updated', 'Records that had changed.'),
  counted('unchanged', 'Records that were as before.'),
  counted('duplicate', 'Further copies of a record.'),
  counted('quarantined', 'Records that no table can take.'),
  counted('deleted', 'Records that were gone.'),
  counted('drifted', 'New or changed records with fields or values that the schema does not know.'),
  counted('repaired', 'Records with half a surrogate pair, replaced by U+FFFD.'),
  counted('pages', 'Pages read.'),
  counted('requests', 'HTTP requests sent, retries included.'),
  {
    name: 'invalid',
    type: 'json',
    doc: 'By field: records with a value that its column could not take. Null when there are none.',
  },
  {
    name: 'notices',
    type: 'json',
    doc: 'What deserves attention: a list of `severity`, `code`, `about` and `message`. Null when there is nothing.',
  },
  {
    name: 'field_rules',
    type: 'json',
    doc: 'What the configuration said of fields of the stream: `hash` or `drop` by field, and what is kept of messages. Null when it said nothing.',
  },
]

/** Its columns in the order they are written, each with the number by which Parquet knows it. */
export const runsColumns: readonly IdentifiedColumn[] = declared.map((column, at) => ({ ...column, id: at + 1 }))

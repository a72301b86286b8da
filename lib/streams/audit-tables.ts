import { parseTime } from '../platform/fields.ts'
import { type Column, defineTable } from './table.ts'

/** One setting that differs between two recorded revisions, as the audit trail hands it over. Holds no secret. */
export type SettingChangeRow = {
  revision: number
  entrySequence: number
  previousRevision: number | null
  /** 0 for the first entry. */
  previousEntrySequence: number
  position: number
  path: string
  kind: string
  /** JSON text. */
  before: string | null
  after: string | null
  secret: boolean
  userId: string | null
  userEmail: string | null
  userName: string | null
  updatedAt: unknown
  severity: string | null
  rules: string | null
  why: string | null
}

/** What was found wrong with the history of the settings or with its record, as the audit trail hands it over. */
export type FindingRow = {
  sequence: number
  kind: string
  severity: string
  observedAt: string
  revision: number | null
  revisionTo: number | null
  recordedAs: number | null
  place: string | null
  message: string
  runId: string | null
  hash: string
}

function typed(type: Column['type']) {
  return <Row>(name: string, doc: string, value: Column<Row>['value']): Column<Row> => ({ name, type, doc, value })
}
const [text, integer, json, boolean, timestamp] = [
  typed('string'),
  typed('int64'),
  typed('json'),
  typed('boolean'),
  typed('timestamp'),
]
function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? parseTime(value) : null
}

/** What each revision of the enterprise settings changed, field by field. Keys name pairs of entries, which never change. */
export const settingChanges = defineTable<SettingChangeRow, SettingChangeRow>({
  name: 'enterprise_setting_changes',
  doc: 'What each revision of the enterprise settings changed with regard to the revision before it, field by field.',
  key: ['entry_sequence', 'previous_entry_sequence', 'position'],
  each: (change) => [change],
  columns: [
    integer('revision', 'The revision.', ({ revision }) => revision),
    integer('entry_sequence', 'Its entry in the audit trail.', ({ entrySequence }) => entrySequence),
    integer(
      'previous_revision',
      'The revision it is compared with; the same one when it was seen again with another content; null for the first.',
      ({ previousRevision }) => previousRevision,
    ),
    integer(
      'previous_entry_sequence',
      'The entry it is compared with; 0 for the first.',
      ({ previousEntrySequence }) => previousEntrySequence,
    ),
    integer('position', 'Number of the change within the comparison, from 1.', ({ position }) => position),
    text('path', 'The setting, as `sandbox.enabled` or `customModels[id=m1].baseUrl`.', ({ path }) => path),
    text('kind', 'Added, removed or changed, in lower case.', ({ kind }) => kind),
    json('before', 'The value before, as JSON; secrets as [secret].', ({ before }) => before),
    json('after', 'The value after, as JSON; secrets as [secret].', ({ after }) => after),
    boolean('secret', 'Whether a secret differs.', ({ secret }) => secret),
    text('user_id', 'Id of the user who made the change.', ({ userId }) => userId),
    text('user_email', 'E-mail address of the user who made the change.', ({ userEmail }) => userEmail),
    text('user_name', 'Name of the user who made the change.', ({ userName }) => userName),
    timestamp('updated_at', 'When the change was made.', ({ updatedAt }) => timeOf(updatedAt)),
    text('severity', 'The gravest of the watch rules that match; null when none does.', ({ severity }) => severity),
    text('rules', 'The watch rules that match, separated by commas.', ({ rules }) => rules),
    text('why', 'Why they matter.', ({ why }) => why),
  ],
})

/** What was found wrong with the history of the settings or with its record. */
export const auditFindings = defineTable<FindingRow, FindingRow>({
  name: 'audit_findings',
  doc: 'What was found wrong with the history of the enterprise settings, or with its record.',
  key: ['finding'],
  each: (finding) => [finding],
  columns: [
    integer('finding', 'Its number in the chain of findings.', ({ sequence }) => sequence),
    text('kind', 'What kind of thing was found (docs/audit-format.md).', ({ kind }) => kind),
    text('severity', 'How grave it is: info, warning or critical.', ({ severity }) => severity),
    timestamp('observed_at', 'When it was found.', ({ observedAt }) => timeOf(observedAt)),
    integer('revision', 'The revision, or the first of a row of them.', ({ revision }) => revision),
    integer('revision_to', 'The last revision of the row.', ({ revisionTo }) => revisionTo),
    integer('entry_sequence', 'The entry that recorded the revision.', ({ recordedAs }) => recordedAs),
    text('place', 'The stored object that is at fault.', ({ place }) => place),
    text('message', 'What was found, and what to do.', ({ message }) => message),
    text('observed_run_id', 'The run that found it.', ({ runId }) => runId),
    text('finding_hash', 'Hash of the finding in its chain.', ({ hash }) => hash),
  ],
})

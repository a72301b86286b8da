import * as z from 'zod'
import { lazyObject } from '../core/schema.ts'
import { jsonText, timeText } from '../platform/fields.ts'
import { recordTable } from './schema-tables.ts'

function text(meaning: string) {
  return z.string().describe(meaning)
}
function integer(meaning: string) {
  return z.int().describe(meaning)
}

/** One setting that differs between two recorded revisions, as the audit trail hands it over. Holds no secret. */
export const SettingChangeRow = lazyObject(() => ({
  revision: integer('The revision.'),
  entrySequence: integer('Its entry in the audit trail.'),
  previousRevision: integer(
    'The revision it is compared with; the same one when it was seen again with another content; null for the first.',
  ).nullable(),
  previousEntrySequence: integer('The entry it is compared with; 0 for the first.'),
  position: integer('Number of the change within the comparison, from 1.'),
  path: text('The setting, as `sandbox.enabled` or `customModels[id=m1].baseUrl`.'),
  kind: text('Added, removed or changed, in lower case.'),
  before: jsonText().nullable().describe('The value before, as JSON; secrets as [secret].'),
  after: jsonText().nullable().describe('The value after, as JSON; secrets as [secret].'),
  secret: z.boolean().describe('Whether a secret differs.'),
  userId: text('Id of the user who made the change.').nullable(),
  userEmail: text('E-mail address of the user who made the change.').nullable(),
  userName: text('Name of the user who made the change.').nullable(),
  updatedAt: timeText().nullable().describe('When the change was made.'),
  severity: text('The gravest of the watch rules that match; null when none does.').nullable(),
  rules: text('The watch rules that match, separated by commas.').nullable(),
  why: text('Why they matter.').nullable(),
}))
export type SettingChangeRow = z.infer<typeof SettingChangeRow>

/** What was found wrong with the history of the settings or with its record, as the audit trail hands it over. */
const FindingRow = lazyObject(() => ({
  sequence: integer('Its number in the chain of findings.'),
  kind: text('What kind of thing was found (docs/audit-format.md).'),
  severity: text('How grave it is: info, warning or critical.'),
  observedAt: timeText().describe('When it was found.'),
  revision: integer('The revision, or the first of a row of them.').nullable(),
  revisionTo: integer('The last revision of the row.').nullable(),
  recordedAs: integer('The entry that recorded the revision.').nullable(),
  place: text('The stored object that is at fault.').nullable(),
  message: text('What was found, and what to do.'),
  runId: text('The run that found it.').nullable(),
  hash: text('Hash of the finding in its chain.'),
}))

/** What each revision of the enterprise settings changed, field by field. Keys name pairs of entries, which never change. */
export const settingChanges = recordTable(SettingChangeRow, {
  name: 'enterprise_setting_changes',
  doc: 'What each revision of the enterprise settings changed with regard to the revision before it, field by field.',
  key: ['entry_sequence', 'previous_entry_sequence', 'position'],
})

/** What was found wrong with the history of the settings or with its record. */
export const auditFindings = recordTable(FindingRow, {
  name: 'audit_findings',
  doc: 'What was found wrong with the history of the enterprise settings, or with its record.',
  key: ['finding'],
  fields: {
    sequence: { column: 'finding' },
    recordedAs: { column: 'entry_sequence' },
    runId: { column: 'observed_run_id' },
    hash: { column: 'finding_hash' },
  },
})

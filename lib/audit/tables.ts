import { canonicalJson } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { parseTime } from '../platform/fields.ts'
import { type Column, defineTable } from '../streams/table.ts'
import type { Finding } from './finding.ts'
import { type Step, userOf, type WatchedChange } from './history.ts'
import { gravest } from './watch.ts'

/** One changed setting of a revision, as it goes to the warehouse. */
export type SettingChange = { step: Step; change: WatchedChange; position: number }

type ChangeColumn = Column<SettingChange>

const text = (name: string, doc: string, value: ChangeColumn['value']): ChangeColumn => ({
  name,
  type: 'string',
  doc,
  value,
})
const json = (value: Json | undefined) => (value === undefined ? null : canonicalJson(value))
const time = (value: unknown) => (typeof value === 'string' ? parseTime(value) : null)

/** What each revision of the enterprise settings changed, field by field. Keys name pairs of entries, which never change. */
export const settingChanges = defineTable({
  name: 'enterprise_setting_changes',
  doc: 'What each revision of the enterprise settings changed with regard to the revision before it, field by field.',
  key: ['entry_sequence', 'previous_entry_sequence', 'position'],
  each: (change: SettingChange) => [change],
  columns: [
    { name: 'revision', type: 'int64', doc: 'The revision.', value: ({ step }) => step.entry.revision },
    {
      name: 'entry_sequence',
      type: 'int64',
      doc: 'Its entry in the audit trail.',
      value: ({ step }) => step.entry.sequence,
    },
    {
      name: 'previous_revision',
      type: 'int64',
      doc: 'The revision it is compared with; the same one when it was seen again with another content; null for the first.',
      value: ({ step }) => step.previous?.revision ?? null,
    },
    {
      name: 'previous_entry_sequence',
      type: 'int64',
      doc: 'The entry it is compared with; 0 for the first.',
      value: ({ step }) => step.previous?.sequence ?? 0,
    },
    {
      name: 'position',
      type: 'int64',
      doc: 'Number of the change within the comparison, from 1.',
      value: ({ position }) => position,
    },
    text('path', 'The setting, as `sandbox.enabled` or `customModels[id=m1].baseUrl`.', ({ change }) => change.path),
    text('kind', 'added, removed or changed.', ({ change }) => change.kind),
    {
      name: 'before',
      type: 'json',
      doc: 'The value before, as JSON; secrets as [secret].',
      value: ({ change }) => json(change.before),
    },
    {
      name: 'after',
      type: 'json',
      doc: 'The value after, as JSON; secrets as [secret].',
      value: ({ change }) => json(change.after),
    },
    { name: 'secret', type: 'boolean', doc: 'Whether a secret differs.', value: ({ change }) => change.secret },
    text('user_id', 'Id of the user who made the change.', ({ step }) => userOf(step.entry).id),
    text('user_email', 'E-mail address of the user who made the change.', ({ step }) => userOf(step.entry).email),
    text('user_name', 'Name of the user who made the change.', ({ step }) => userOf(step.entry).name),
    {
      name: 'updated_at',
      type: 'timestamp',
      doc: 'When the change was made.',
      value: ({ step }) => time(step.entry.updatedAt),
    },
    text('severity', 'The gravest of the watch rules that match; null when none does.', ({ change }) =>
      gravest(change.matches.map(({ severity }) => severity)),
    ),
    text('rules', 'The watch rules that match, separated by commas.', ({ change }) =>
      change.matches.length === 0 ? null : change.matches.map(({ id }) => id).join(','),
    ),
    text('why', 'Why they matter.', ({ change }) =>
      change.matches.length === 0 ? null : change.matches.map(({ why }) => why).join(' '),
    ),
  ],
})

const findingText = (name: string, doc: string, value: (finding: Finding) => string | null): Column<Finding> => ({
  name,
  type: 'string',
  doc,
  value,
})

/** What was found wrong with the history of the settings or with its record. */
export const auditFindings = defineTable({
  name: 'audit_findings',
  doc: 'What was found wrong with the history of the enterprise settings, or with its record.',
  key: ['finding'],
  each: (finding: Finding) => [finding],
  columns: [
    { name: 'finding', type: 'int64', doc: 'Its number in the chain of findings.', value: ({ sequence }) => sequence },
    findingText('kind', 'What kind of thing was found (docs/audit-format.md).', ({ kind }) => kind),
    findingText('severity', 'info, warning or critical.', ({ severity }) => severity),
    { name: 'observed_at', type: 'timestamp', doc: 'When it was found.', value: ({ observedAt }) => time(observedAt) },
    {
      name: 'revision',
      type: 'int64',
      doc: 'The revision, or the first of a row of them.',
      value: ({ revision }) => revision,
    },
    { name: 'revision_to', type: 'int64', doc: 'The last revision of the row.', value: ({ revisionTo }) => revisionTo },
    {
      name: 'entry_sequence',
      type: 'int64',
      doc: 'The entry that recorded the revision.',
      value: ({ recordedAs }) => recordedAs,
    },
    findingText('place', 'The stored object that is at fault.', ({ place }) => place),
    findingText('message', 'What was found, and what to do.', ({ message }) => message),
    findingText('observed_run_id', 'The run that found it.', ({ runId }) => runId),
    findingText('finding_hash', 'Hash of the finding in its chain.', ({ hash }) => hash),
  ],
})

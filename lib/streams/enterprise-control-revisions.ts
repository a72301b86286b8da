import { parseTime } from '../platform/fields.ts'
import { cursorPages } from '../platform/paging.ts'
import { EnterpriseControlRevision } from '../platform/schemas/enterprise-controls.ts'
import { auditFindings, settingChanges } from './audit-tables.ts'
import { field, snakeCase } from './columns.ts'
import { defineStream } from './stream.ts'
import { type Column, defineTable, type Table } from './table.ts'

/** A setting that people filter by, as a column named after the setting alone. */
function setting(path: string): Column<EnterpriseControlRevision> {
  return field(EnterpriseControlRevision, `settings.${path}`, { name: snakeCase(path) })
}

const revisions = defineTable({
  name: 'enterprise_control_revisions',
  doc: "Changes of the organization's enterprise settings: one row per revision, with the settings as of it.",
  key: ['revision'],
  each: (revision: EnterpriseControlRevision) => [revision],
  columns: [
    field(EnterpriseControlRevision, 'revision'),
    field(EnterpriseControlRevision, 'updatedAt', { type: 'timestamp' }),
    field(EnterpriseControlRevision, 'user.id'),
    field(EnterpriseControlRevision, 'user.email'),
    field(EnterpriseControlRevision, 'user.name'),
    field(EnterpriseControlRevision, 'settings', {
      doc: 'The settings as of this revision, secrets replaced by fingerprints (§2.9, §2.10).',
    }),
    setting('maxAutonomyLevel'),
    setting('cloudSessionSync'),
    setting('enableAgentShield'),
    setting('modelPolicy.allowCustomModels'),
    setting('modelPolicy.allowAllPlatformModels'),
    setting('mcpPolicy.enabled'),
    setting('missionPolicy.restrictedAccess'),
    setting('sandbox.enabled'),
    setting('restrictMemberVisibility'),
    setting('restrictApiKeyCreationToManagers'),
    setting('managedComputersEnabled'),
    setting('byomComputersEnabled'),
    setting('sessionRetentionDays'),
  ],
})

/** History of the enterprise settings (§4.2, endpoint 2). */
export const enterpriseControlRevisions = defineStream({
  name: 'enterprise_control_revisions',
  doc: "History of the organization's enterprise settings. A revision does not change; each change brings a new one.",
  endpoint: { base: 'v0', path: '/api/v0/organization/enterprise-controls/history' },
  paging: cursorPages('changes'),
  schema: EnterpriseControlRevision,
  primaryKey: 'revision',
  changedAt: ({ updatedAt }) => (typeof updatedAt === 'string' ? (parseTime(updatedAt) ?? undefined) : undefined),
  secretPaths: [
    'settings.customModels[].apiKey',
    'settings.customModels[].extraHeaders.*',
    'settings.customModels[].extraArgs.*',
    'settings.customModels[].hostedProvider.cloudAuthRefresh',
    'settings.customModels[].hostedProvider.cloudCredentialExport',
  ],
  tables: [revisions],
  observedTables: [settingChanges, auditFindings] as readonly Table[],
})

import { cursorPages } from '../platform/paging.ts'
import { EnterpriseControlRevision } from '../platform/schemas/enterprise-controls.ts'
import { parseTime } from '../platform/times.ts'
import { auditFindings, settingChanges } from './audit-tables.ts'
import { recordTable } from './schema-tables.ts'
import { definePlatformStream } from './stream.ts'

/** Settings that people filter by. */
const filters = [
  'maxAutonomyLevel',
  'cloudSessionSync',
  'enableAgentShield',
  'modelPolicy.allowCustomModels',
  'modelPolicy.allowAllPlatformModels',
  'mcpPolicy.enabled',
  'missionPolicy.restrictedAccess',
  'sandbox.enabled',
  'restrictMemberVisibility',
  'restrictApiKeyCreationToManagers',
  'managedComputersEnabled',
  'byomComputersEnabled',
  'sessionRetentionDays',
]

/** History of the enterprise settings (§4.2, endpoint 2). */
export const enterpriseControlRevisions = definePlatformStream({
  name: 'enterprise_control_revisions',
  doc: "History of the organization's enterprise settings. A revision does not change; each change brings a new one.",
  mode: 'full_refresh',
  reading: cursorPages({
    endpoint: { base: 'v0', path: '/api/v0/organization/enterprise-controls/history' },
    items: 'changes',
    pageSize: 100,
  }),
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
  personal: [
    ...['user.email', 'user.name'],
    ...['settings.managedComputersAllowedEmails', 'settings.byomComputersAllowedEmails'],
  ],
  tables: [
    recordTable(EnterpriseControlRevision, {
      name: 'enterprise_control_revisions',
      doc: "Changes of the organization's enterprise settings: one row per revision, with the settings as of it.",
      key: ['revision'],
      fields: {
        settings: {
          column: 'settings',
          doc: 'The settings as of this revision, secrets replaced by fingerprints (§2.9, §2.10).',
          picked: filters,
        },
      },
    }),
  ],
  observedTables: [settingChanges, auditFindings],
})

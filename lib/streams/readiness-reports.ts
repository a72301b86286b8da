import { startAfterPages } from '../platform/paging.ts'
import { ReadinessReport } from '../platform/schemas/readiness-report.ts'
import { nestedTable, recordTable } from './schema-tables.ts'
import { definePlatformStream } from './stream.ts'

/** Evaluations of how ready code repositories are for agent work (§4.2, endpoint 1). */
export const readinessReports = definePlatformStream({
  name: 'readiness_reports',
  doc: 'Evaluations of how ready code repositories are for agent work. A report does not change; new ones come.',
  mode: 'full_refresh',
  reading: startAfterPages({
    endpoint: { base: 'app', path: '/api/organization/maturity-level-reports' },
    items: 'reports',
    idField: 'reportId',
    pageSize: 100,
  }),
  schema: ReadinessReport,
  primaryKey: 'reportId',
  secretPaths: [],
  dataMaps: ['apps', 'report'],
  tables: [
    recordTable(ReadinessReport, {
      name: 'readiness_reports',
      doc: 'Readiness reports: one row per evaluation of a repository.',
      key: ['report_id'],
      fields: { apps: 'left_out', report: 'left_out' },
    }),
    // Time and repository stand in each row, so that a pass rate over time needs no join.
    nestedTable(ReadinessReport, 'report', {
      name: 'readiness_criteria',
      doc: 'How a repository fares on each criterion: one row per report and criterion.',
      parentKey: { field: 'reportId', column: 'report_id' },
      elementKey: { column: 'criterion_id', doc: 'Id of the criterion (§2.1).' },
      parentFields: ['createdAt', 'repoUrl'],
    }),
    nestedTable(ReadinessReport, 'apps', {
      name: 'readiness_apps',
      doc: 'Applications of a repository: one row per report and application.',
      parentKey: { field: 'reportId', column: 'report_id' },
      elementKey: { column: 'app_path', doc: 'Path of the application in its repository (§2.1).' },
      parentFields: ['createdAt', 'repoUrl'],
    }),
  ],
})

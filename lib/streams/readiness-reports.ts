import { startAfterPages } from '../platform/paging.ts'
import { AppDescription, CriterionEvaluation, ReadinessReport } from '../platform/schemas/readiness-report.ts'
import { field, within } from './columns.ts'
import { defineStream } from './stream.ts'
import { type Column, defineTable } from './table.ts'

const reportId = field(ReadinessReport, 'reportId')
const createdAt = field(ReadinessReport, 'createdAt', { type: 'timestamp' })
const repoUrl = field(ReadinessReport, 'repoUrl')

const reports = defineTable({
  name: 'readiness_reports',
  doc: 'Readiness reports: one row per evaluation of a repository.',
  key: ['report_id'],
  each: (report: ReadinessReport) => [report],
  columns: [
    reportId,
    createdAt,
    repoUrl,
    field(ReadinessReport, 'commitHash'),
    field(ReadinessReport, 'branch'),
    field(ReadinessReport, 'hasLocalChanges'),
    field(ReadinessReport, 'hasNonRemoteCommits'),
    field(ReadinessReport, 'modelUsed.id'),
    field(ReadinessReport, 'modelUsed.reasoningEffort'),
    field(ReadinessReport, 'agentVersion'),
  ],
})

/** An entry of one of a report's two maps. */
type Entry<V> = { report: ReadinessReport; key: string; value: V }

function entriesOf<V>(report: ReadinessReport, map: Record<string, V>): Entry<V>[] {
  return Object.entries(map).map(([key, value]) => ({ report, key, value }))
}

// Time and repository stand in each row, so that a pass rate over time needs no join.
function ofReport<V>(): Column<Entry<V>>[] {
  return [createdAt, repoUrl].map((column) => within((entry: Entry<V>) => entry.report, column))
}

const criteria = defineTable({
  name: 'readiness_criteria',
  doc: 'How a repository fares on each criterion: one row per report and criterion.',
  key: ['report_id', 'criterion_id'],
  each: (report: ReadinessReport) => entriesOf(report, report.report),
  columns: [
    within(({ report }: Entry<CriterionEvaluation>) => report, reportId),
    {
      name: 'criterion_id',
      type: 'string',
      doc: 'Id of the criterion (§2.1).',
      value: ({ key }: Entry<CriterionEvaluation>) => key,
    },
    ...['numerator', 'denominator', 'rationale'].map((name) =>
      within(({ value }: Entry<CriterionEvaluation>) => value, field(CriterionEvaluation, name)),
    ),
    ...ofReport<CriterionEvaluation>(),
  ],
})

const apps = defineTable({
  name: 'readiness_apps',
  doc: 'Applications of a repository: one row per report and application.',
  key: ['report_id', 'app_path'],
  each: (report: ReadinessReport) => entriesOf(report, report.apps),
  columns: [
    within(({ report }: Entry<AppDescription>) => report, reportId),
    {
      name: 'app_path',
      type: 'string',
      doc: 'Path of the application in its repository (§2.1).',
      value: ({ key }: Entry<AppDescription>) => key,
    },
    within(({ value }: Entry<AppDescription>) => value, field(AppDescription, 'description')),
    ...ofReport<AppDescription>(),
  ],
})

/** Evaluations of how ready code repositories are for agent work (§4.2, endpoint 1). */
export const readinessReports = defineStream({
  name: 'readiness_reports',
  doc: 'Evaluations of how ready code repositories are for agent work. A report does not change; new ones come.',
  endpoint: { base: 'app', path: '/api/organization/maturity-level-reports' },
  paging: startAfterPages('reports', 'reportId'),
  schema: ReadinessReport,
  primaryKey: 'reportId',
  secretPaths: [],
  dataMaps: ['apps', 'report'],
  tables: [reports, criteria, apps],
})

import { runsColumns } from '../streams/runs-table.ts'
import type { Cell } from '../streams/table.ts'
import type { Counts } from '../sync/checkpoint.ts'
import { scheduleOf } from '../sync/scheduled-run.ts'
import type { RunRecord } from './manifest.ts'

type RunOfStream = RunRecord['streams'][number]

/** The rows of a run in the table of runs: one for each of its streams, in the order of the columns. */
export function runRows(run: RunRecord): Cell[][] {
  return run.streams.map((stream) => {
    const cells: Readonly<Record<string, Cell | undefined>> = { ...cellsOfRun(run), ...cellsOfStream(stream) }
    return runsColumns.map(({ name }) => cells[name] ?? null)
  })
}

function cellsOfRun({ runId, scheduledAt, finishedAt, status }: RunRecord) {
  return {
    run_id: runId,
    schedule: scheduleOf({ runId }),
    scheduled_at: scheduledAt,
    finished_at: finishedAt,
    run_status: status,
  }
}

function cellsOfStream({ stream, status, reason, standing, notices = [], rules = {}, ...counted }: RunOfStream) {
  // Records of earlier versions know what the scan counted, and not how much of that was theirs.
  const counts = counted.ofRun ?? counted.counts
  return {
    ...{ stream, status, reason },
    complete_at: standing?.completeAt,
    scan_ended_at: standing?.scanEndedAt,
    records: standing?.records,
    ...(counts ? cellsOfCounts(counts) : {}),
    notices: notices.length > 0 ? JSON.stringify(notices) : null,
    field_rules: jsonOf(rules),
  }
}

function cellsOfCounts({ invalid, apiCalls, ...numbers }: Counts) {
  return { ...numbers, requests: apiCalls, invalid: jsonOf(invalid) }
}

function jsonOf(object: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(object).length > 0 ? JSON.stringify(object) : null
}

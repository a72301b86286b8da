import { runsColumns, runsTable } from '../streams/runs-table.ts'
import { cellOf, type FileAt, fillStatements, type Statement } from './load.ts'
import { declaredTable, type Place } from './tables.ts'

function nameIn({ schema }: Place): string {
  return `${schema}.${runsTable.name}`
}

/** Statements that make the table of runs. They change nothing that is there. */
export function runsTableStatements(place: Place): readonly string[] {
  return declaredTable(place.dialect, nameIn(place), { doc: runsTable.doc, columns: runsColumns })
}

/** A question for the time of the newest run that is there, in Unix seconds; null where there is none. */
export function newestRunQuestion(place: Place): string {
  return `select extract(epoch from max(scheduled_at)) from ${nameIn(place)}`
}

/**
 * Statements that bring files of the table of runs in. A file is written anew with each run of its month, so that what is
 * there of these runs is replaced: loading one twice changes nothing.
 */
export function runsStatements<F extends FileAt>(place: Place, files: readonly F[]): readonly Statement<F>[] {
  if (files.length === 0) return []
  const { dialect } = place
  const stage = `${dialect.stagePrefix(place.schema)}stage${runsTable.name}`
  const names = runsColumns.map(({ name }) => name).join(', ')
  const cells = runsColumns.map((column) => cellOf(place, column, 'staged')).join(', ')
  const replaced = [
    dialect.begin,
    `delete from ${nameIn(place)} where run_id in (select run_id from ${stage})`,
    `insert into ${nameIn(place)} (${names})\nselect ${cells}\nfrom ${stage} as staged`,
    dialect.commit,
    `drop table ${stage}`,
  ]
  return [
    ...fillStatements(place, { stage, columns: runsColumns, files }),
    ...replaced.filter((sql) => sql !== '').map((sql) => ({ sql })),
  ]
}

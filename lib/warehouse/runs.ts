import { runsColumns, runsTable } from '../streams/runs-table.ts'
import { cellOf, type FileAt, type Statement } from './load.ts'
import { declaredTable, type Place } from './tables.ts'

function nameIn({ schema }: Place): string {
  return `${schema}.${runsTable.name}`
}

/** Statements that make the table of runs. They change nothing that is there. */
export function runsTableStatements(place: Place): readonly string[] {
  return declaredTable(place.dialect, nameIn(place), { doc: runsTable.doc, columns: runsColumns })
}

/**
 * Statements that bring files of the table of runs in. A file is written anew with each run of its month, so that what is
 * there of these runs is replaced: loading one twice changes nothing.
 */
export function runsStatements<F extends FileAt>(place: Place, files: readonly F[]): readonly Statement<F>[] {
  if (files.length === 0) return []
  const { dialect } = place
  const stage = `${dialect.stagePrefix(place.schema)}stage${runsTable.name}`
  const types = { ...dialect.types, ...dialect.stageTypes }
  const columns = runsColumns.map(({ name, type }) => ({ name, type: types[type] }))
  const filled = dialect.fill({ name: stage, columns, files: files.map(({ address }) => address) })
  const names = columns.map(({ name }) => name).join(', ')
  const cells = runsColumns.map((column) => cellOf(place, column, 'staged')).join(', ')
  const replaced = [
    dialect.begin,
    `delete from ${nameIn(place)} where run_id in (select run_id from ${stage})`,
    `insert into ${nameIn(place)} (${names})\nselect ${cells}\nfrom ${stage} as staged`,
    dialect.commit,
    `drop table ${stage}`,
  ]
  return [
    ...filled.map((sql, at) => {
      const hasRows = dialect.inlineRows === true && at === filled.length - 1
      return hasRows ? { sql, rows: { columns: runsColumns, files } } : { sql }
    }),
    ...replaced.filter((sql) => sql !== '').map((sql) => ({ sql })),
  ]
}

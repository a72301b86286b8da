import { currentName } from '../../streams/current.ts'
import { type Stream, tablesOf } from '../../streams/stream.ts'
import {
  currentModel,
  freshnessModel,
  freshnessTest,
  hasHistory,
  historyModel,
  historyName,
  keysTest,
  packageName,
  periodsTest,
} from './models.ts'
import { modelsFile, sourcesFile } from './properties.ts'

const notice = 'Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.'

/** All files of the dbt package, by their path in it. */
export function dbtPackage(streams: readonly Stream[]): ReadonlyMap<string, string> {
  const files = new Map([
    ['dbt_project.yml', projectFile],
    ['macros/utc_now.sql', utcNow],
    ['models/sources.yml', `# ${notice}\n${sourcesFile(streams)}`],
    ['models/models.yml', `# ${notice}\n${modelsFile(streams)}`],
    ['models/stream_freshness.sql', sql(freshnessModel())],
    ['tests/last_night_is_in.sql', sql(freshnessTest())],
  ])
  for (const stream of streams) {
    for (const table of tablesOf(stream)) {
      const current = currentName(table)
      files.set(`models/current/${current}.sql`, sql(currentModel(stream, table)))
      // Of one column, `unique` in models.yml says it.
      if (table.key.length > 1) files.set(`tests/keys_of_${current}.sql`, sql(keysTest(current, table)))
      if (!hasHistory(stream, table)) continue
      files.set(`models/history/${historyName(table)}.sql`, sql(historyModel(stream, table)))
      files.set(`tests/periods_of_${historyName(table)}.sql`, sql(periodsTest(table)))
    }
  }
  return files
}

function sql(query: string): string {
  return `-- ${notice}\n${query}\n`
}

const projectFile = `# ${notice}
name: ${packageName}
version: 1.0.0
config-version: 2
require-dbt-version: ">=1.8.0"
profile: ${packageName}
vars:
  # Where the change logs are, and of Glue the other database, where the table of runs is.
  platform_sync_schema: platform_sync
  # After so many hours without a whole scan of a stream, last_night_is_in warns.
  platform_sync_hours: 26
models:
  ${packageName}:
    +materialized: view
`

/** Columns of times are UTC, in some warehouses without a zone: there, the time of comparison has none either. */
const utcNow = `-- ${notice}
{% macro utc_now() %}{{ return(adapter.dispatch('utc_now', '${packageName}')()) }}{% endmacro %}
{% macro default__utc_now() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro duckdb__utc_now() %}{{ return("now() at time zone 'UTC'") }}{% endmacro %}
{% macro athena__utc_now() %}{{ return("cast(now() at time zone 'UTC' as timestamp)") }}{% endmacro %}
`

import { bigquery } from './bigquery.ts'
import { databricks } from './databricks.ts'
import type { Dialect } from './dialect.ts'
import { duckdb } from './duckdb.ts'
import { postgres } from './postgres.ts'
import { redshift } from './redshift.ts'
import { snowflake } from './snowflake.ts'

/** The warehouses that SQL is written for. */
export const targets = { redshift, snowflake, bigquery, databricks, postgres, duckdb } as const satisfies Record<
  string,
  Dialect
>
export type Target = keyof typeof targets

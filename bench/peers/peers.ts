/** Another tool that syncs the same sessions. */
export type Peer = {
  name: string
  /** Whether it notices that a session is gone. Those that don't are measured for reference. */
  seesDeletes: boolean
  /** One sync as a line of bash; `$PYTHON` runs a script. */
  line: string
  /** What DuckDB counts to know how many rows it keeps. */
  rows: string
  /** What a sync adds to the rows: versions of what changed, or everything once more. */
  adds: 'versions' | 'everything'
}

const dlt = { rows: 'data.sessions', seesDeletes: true, adds: 'versions' } as const

/** The tools, each tuned in its own favour: see docs/performance.md. */
export const peers: readonly Peer[] = [
  { ...dlt, name: 'dlt scd2', line: '$PYTHON dlt_sync.py scd2' },
  { ...dlt, name: 'dlt scd2 on Arrow', line: '$PYTHON dlt_sync.py scd2-arrow' },
  {
    name: 'dlt append',
    seesDeletes: false,
    line: '$PYTHON dlt_sync.py append',
    rows: "'files/data/sessions/*.parquet'",
    adds: 'everything',
  },
  {
    name: 'Singer',
    seesDeletes: false,
    line: '$PYTHON singer_tap.py | $PYTHON singer_target.py',
    rows: "'sessions-*.parquet'",
    adds: 'everything',
  },
]

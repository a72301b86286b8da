import { addRow, columnsOfSums, type Measure, sumsSql } from './measures.ts'
import { bandsOf, periods, within } from './periods.ts'
import type { Fold, Picture, Source } from './picture.ts'
import { noSession, ofSessions } from './session-measures.ts'

const kinds = ['input', 'output', 'cache_creation', 'cache_read', 'thinking']

const sums: readonly Measure[] = [
  ...kinds.map((name) => ({ name, title: name, kind: 'count', column: `token_usage_${name}_tokens` }) as const),
  { name: 'sessions', title: 'Sessions', kind: 'count', column: null },
]

const source: Source = {
  reads: [{ table: ofSessions.table, columns: [ofSessions.time, ...columnsOfSums({ sums })] }],
  fields: () => [
    { name: 'kind', title: 'Kind', kind: 'name' },
    { name: 'tokens', title: 'Tokens', kind: 'count' },
  ],
  sql: (period, now) =>
    [
      'select kind, tokens',
      'from (',
      `  select ${sumsSql({ sums })}`,
      `  from ${ofSessions.table}`,
      `  where ${within(ofSessions.time, period, now)}`,
      ')',
      `unpivot (tokens for kind in (${kinds.join(', ')}))`,
      'where sessions > 0',
      'order by tokens desc, kind',
    ].join('\n'),
  begin: (now) => {
    const bandOf = bandsOf(now)
    const bands = periods.map(() => new Float64Array(sums.length))
    return {
      add: (_, { rows, columns }) => {
        const [times = [], ...cells] = columns
        for (let row = 0; row < rows; row++) {
          const at = times[row]
          const band = bands[typeof at === 'number' ? bandOf(at) : -1]
          if (band) addRow({ sums: band, at: 0 }, { sums }, { cells, row })
        }
      },
      table: (period) => {
        const inside = bands.slice(0, periods.indexOf(period) + 1)
        const total = (at: number) => inside.reduce((sum, band) => sum + (band[at] ?? 0), 0)
        if (total(kinds.length) === 0) return []
        return kinds
          .map((kind, at) => [kind, total(at)] as const)
          .toSorted(mostFirst)
          .map((row) => [...row])
      },
    } satisfies Fold
  },
}

function mostFirst([kind, tokens]: readonly [string, number], [other, more]: readonly [string, number]): number {
  return more - tokens || (kind < other ? -1 : 1)
}

/** What kinds of tokens sessions use. */
export const tokensByKind: Picture = {
  id: 'tokens-by-kind',
  group: 'use',
  title: () => 'Tokens by kind',
  unit: 'tokens',
  note: 'Tokens of the sessions that began in the period. Those of child sessions count there.',
  empty: noSession,
  periods: 'each',
  source,
  chart: () => ({ kind: 'bars', name: 'kind', length: 'tokens' }),
}

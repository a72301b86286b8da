import type { Figures } from './figures.ts'
import type { Soaked } from './soak.ts'

const monthNights = 30

/** The figures of a soak as a Markdown table: its first month beside its last one, and how often each fault struck. */
export function tableOfFigures({ figures, struck }: Soaked): string {
  const [first, last] = [figures.slice(0, monthNights), figures.slice(-monthNights)]
  const row = (what: string, of: (some: Figures[]) => string | number) => `| ${what} | ${of(first)} | ${of(last)} |`
  const grown = (name: 'objects' | 'bytes' | 'items') => (some: Figures[]) =>
    Math.round((some.at(-1)![name] - some[0]![name]) / Math.max(1, some.length - 1))
  return [
    `| per night, of ${figures.length} | first month | last month |`,
    '| --- | --- | --- |',
    row('calls on platform and storage, median', (some) => median(some.map(({ calls }) => calls))),
    row('the same in a night without a change, median', (some) =>
      median(some.flatMap(({ idleCalls }) => idleCalls ?? [])),
    ),
    row('objects more', grown('objects')),
    row('bytes more', grown('bytes')),
    row('items more', grown('items')),
    row('objects beside data files that a reader of a table opens, most', (some) =>
      Math.max(...some.map(({ opened }) => opened)),
    ),
    '',
    ...[...struck].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `- ${kind}: ${count}`),
  ].join('\n')
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

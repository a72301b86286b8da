import Table from 'cli-table3'

/** One measured figure. Ratios and counts compare across machines; times only within one. */
export type Figure = {
  part: string
  measure: string
  value: number
  unit: string
  /** What it should be, at most or at least; null where it is told for its own sake. */
  aim: { most: number } | { least: number } | null
}

/** Whether a figure is as it should be; null without an aim. */
export function isMet({ value, aim }: Figure): boolean | null {
  if (aim === null) return null
  return 'most' in aim ? value <= aim.most : value >= aim.least
}

/** The figures as a table for people, with what was met and by how much the rest was missed. */
export function tableOf(figures: readonly Figure[]): string {
  const table = new Table({ head: ['part', 'measure', 'value', 'unit', 'aim', ''], style: { head: [], border: [] } })
  for (const figure of figures) {
    const { part, measure, value, unit, aim } = figure
    table.push([part, measure, readable(value), unit, aimText(aim), verdict(figure)])
  }
  return table.toString()
}

function readable(value: number) {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 3 : 0 })
}

function aimText(aim: Figure['aim']) {
  if (aim === null) return ''
  return 'most' in aim ? `<= ${readable(aim.most)}` : `>= ${readable(aim.least)}`
}

function verdict(figure: Figure): string {
  const { value, aim } = figure
  if (aim === null) return ''
  if (isMet(figure)) return 'met'
  const target = 'most' in aim ? aim.most : aim.least
  return `missed by ${Math.round((Math.abs(value - target) / target) * 100)} %`
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

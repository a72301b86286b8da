import type { Chart, Field, Value } from './picture.ts'

/** A table to draw: `from` and `to` are Unix ms, where the time axis begins and ends. */
export type Drawing = {
  readonly chart: Chart
  readonly fields: readonly Field[]
  readonly rows: readonly (readonly Value[])[]
  readonly from: number | null
  readonly to: number
  readonly unit: string
  /** The picture for those who can't see it: its name, and what it says. */
  readonly title: string
  readonly summary: string
}

/** A colour of the page, whose style says what it is by day and by night. */
export function colour(n: number): string {
  return `var(--picture-${n})`
}

/** A column of the table by its name. @throws TypeError for a picture that draws a column it does not have: a mistake. */
export function column({ fields, chart }: Drawing, name: string) {
  const at = fields.findIndex((field) => field.name === name)
  const field = fields[at]
  if (field === undefined)
    throw new TypeError(`a picture of ${chart.kind} draws ${name}, which its table does not have`)
  return { field, cellOf: (row: readonly Value[]): Value => row[at] ?? null }
}

export function numberOf(value: Value): number {
  return typeof value === 'number' ? value : 0
}

export function timeOf(value: Value): number {
  return Date.parse(String(value))
}

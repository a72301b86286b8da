import type { Period } from './periods.ts'
import type { RowBatch } from './ports.ts'

/** What a cell of the table behind a picture holds. Days are texts: `2026-11-28`. */
export type Value = string | number | null

/** A column of the table behind a picture: its name in the SQL, and for people. */
export type Field = {
  readonly name: string
  readonly title: string
  readonly kind: 'day' | 'name' | 'count' | 'amount' | 'level' | 'share' | 'points'
}

/** How a picture is drawn. Fields are named as in the table behind it. */
export type Chart =
  /** Bars side by side, one per day or week. */
  | { readonly kind: 'columns'; readonly x: string; readonly y: string }
  /** Bars below each other, one per name. */
  | { readonly kind: 'bars'; readonly name: string; readonly length: string }
  /** A line over time. `steps`: it holds until it changes. */
  | { readonly kind: 'line'; readonly x: string; readonly y: string; readonly steps?: true }
  /** Columns up and down from zero. */
  | { readonly kind: 'upAndDown'; readonly x: string; readonly up: string; readonly down: string }
  /** The table alone. */
  | { readonly kind: 'none' }

/** Columns that a picture takes of a table of the lake. */
export type Reading = { readonly table: string; readonly columns: readonly string[] }

/** Rows taken in one pass, in any order. What it keeps is bounded by the number of names and days, not by that of rows. */
export type Fold = {
  /** Takes rows of the nth reading. */
  add(reading: number, batch: RowBatch): void
  /** The table behind the picture, as the SQL answers it. */
  table(period: Period): Value[][]
}

/** What a picture is made from. Its two halves, the SQL and the fold, say the same; a test asks both. */
export type Source = {
  readonly reads: readonly Reading[]
  readonly fields: (period: Period) => readonly Field[]
  readonly sql: (period: Period, now: number) => string
  readonly begin: (now: number) => Fold
}

/** Parts of the page. */
export type Group = 'use' | 'readiness' | 'people' | 'limits'

/** A picture of what happens on the platform, declared in one place. */
export type Picture = {
  readonly id: string
  readonly group: Group
  /** Says what it shows, in a period. */
  readonly title: (period: Period) => string
  /** What its axis counts. */
  readonly unit: string
  /** What a reader must know to take it right. */
  readonly note: string
  /** What to say where there is nothing to show. */
  readonly empty: string
  /** `each`: one view per period. `none`: a view that stands whatever the period. */
  readonly periods: 'each' | 'none'
  readonly source: Source
  readonly chart: (period: Period) => Chart
}

/** What is shown of a picture in a period. */
export type View = {
  readonly period: Period
  readonly title: string
  readonly sql: string
  readonly fields: readonly Field[]
  readonly rows: readonly (readonly Value[])[]
  /** The picture in words. */
  readonly summary: string
  /** SVG, null where there is nothing to draw. */
  readonly svg: string | null
}

/** A picture that is drawn, ready for a page. */
export type DrawnPicture = Pick<Picture, 'id' | 'group' | 'unit' | 'note' | 'empty' | 'periods'> & {
  readonly views: readonly View[]
}

import { drawView } from './draw-view.ts'
import { firstPeriod, periods } from './periods.ts'
import type { DrawnPicture, Fold, Picture } from './picture.ts'
import { pictures } from './pictures.ts'
import type { LakeRows } from './ports.ts'

/** When the pictures are made: `now` is Unix ms. */
export type PictureTime = { now: number }

/** Reads the lake and draws all pictures, in all periods. Pictures of one table share one pass over it. */
export async function readPictures(rows: LakeRows, { now }: PictureTime): Promise<DrawnPicture[]> {
  const readings = await readTables(rows, pictures, { now })
  return readings.map(({ picture, fold }) => draw(picture, fold, now))
}

/** A picture, and what was read for it. */
export type PictureReading = { picture: Picture; fold: Fold }

/** Reads what pictures need: each table once, with the columns that any of them wants. */
export async function readTables(
  rows: LakeRows,
  wanted: readonly Picture[],
  { now }: PictureTime,
): Promise<PictureReading[]> {
  const readings = wanted.map((picture) => ({ picture, fold: picture.source.begin(now) }))
  const takers = readings.flatMap(({ picture, fold }) =>
    picture.source.reads.map(({ table, columns }, reading) => ({ table, columns, fold, reading })),
  )
  for (const [table, own] of Map.groupBy(takers, (taker) => taker.table)) {
    const columns = [...new Set(own.flatMap((taker) => taker.columns))]
    const places = own.map((taker) => taker.columns.map((name) => columns.indexOf(name)))
    await rows.readColumns(table, columns, (batch) => {
      for (const [n, { fold, reading }] of own.entries()) {
        fold.add(reading, { rows: batch.rows, columns: (places[n] ?? []).map((at) => batch.columns[at] ?? []) })
      }
    })
  }
  return readings
}

function draw(picture: Picture, fold: Fold, now: number): DrawnPicture {
  const { id, group, unit, note, empty } = picture
  const shown = picture.periods === 'each' ? periods : periods.filter((period) => period.id === firstPeriod)
  return {
    id,
    group,
    unit,
    note,
    empty,
    periods: picture.periods,
    views: shown.map((period) => drawView(picture, { period, now, rows: fold.table(period) })),
  }
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { periods } from '../../../lib/report/pictures/periods.ts'
import { pictures } from '../../../lib/report/pictures/pictures.ts'
import { type PictureReading, readPictures, readTables } from '../../../lib/report/pictures/read-pictures.ts'
import { lakeOfTwoNights, noRows, now } from './lake.ts'

type Cells = readonly (readonly unknown[])[]
/** Sums of fractions depend on their order in the last digits. */
function rounded(rows: Cells): Cells {
  return rows.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell)))
}

describe('the pictures', () => {
  let lake: Awaited<ReturnType<typeof lakeOfTwoNights>>
  let readings: PictureReading[][]
  beforeAll(async () => {
    lake = await lakeOfTwoNights()
    readings = [await readTables(lake.rows, pictures, { now }), await readTables(lake.rowsOfLog, pictures, { now })]
  })
  afterAll(() => lake.close())

  it.each(pictures)('$id: has the numbers that its SQL gives, in each period', async ({ id, source }) => {
    for (const period of periods) {
      const sql = source.sql(period, now)
      const expected = rounded(await lake.query(sql))
      expect(expected.length, sql).toBeGreaterThan(0)
      for (const reading of readings) {
        const table = reading.find(({ picture }) => picture.id === id)?.fold.table(period) ?? []
        expect(rounded(table), sql).toEqual(expected)
        expect(table[0]?.length).toBe(source.fields(period).length)
      }
    }
  })

  it('say so where there is nothing to show', async () => {
    for (const { views, empty } of await readPictures(noRows, { now })) {
      for (const view of views) expect(view).toMatchObject({ rows: [], svg: null, summary: empty })
    }
  })
})

import { beforeAll, describe, expect, it } from 'vitest'
import { periods } from '../../../lib/report/pictures/periods.ts'
import { pictures } from '../../../lib/report/pictures/pictures.ts'
import { readPictures } from '../../../lib/report/pictures/read-pictures.ts'
import { lakeOfTwoNights, noRows, now } from './lake.ts'

type Cells = readonly (readonly unknown[])[]
/** Sums of fractions depend on their order in the last digits. */
function rounded(rows: Cells): Cells {
  return rows.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell)))
}

describe('the pictures', () => {
  let lake: Awaited<ReturnType<typeof lakeOfTwoNights>>
  beforeAll(async () => {
    lake = await lakeOfTwoNights()
  })

  it.each(pictures)('$id: has the numbers that its SQL gives, in each period', async ({ id }) => {
    for (const rows of [lake.rows, lake.rowsOfLog]) {
      const picture = (await readPictures(rows, { now })).find((each) => each.id === id)
      expect(picture?.views.length).toBe(picture?.periods === 'each' ? periods.length : 1)
      for (const { sql, fields, rows } of picture?.views ?? []) {
        expect(rows.length, sql).toBeGreaterThan(0)
        expect(rounded(rows), sql).toEqual(rounded(await lake.query(sql)))
        expect(rows[0]?.length).toBe(fields.length)
      }
    }
  })

  it('say so where there is nothing to show', async () => {
    for (const { views, empty } of await readPictures(noRows, { now })) {
      for (const view of views) expect(view).toMatchObject({ rows: [], svg: null, summary: empty })
    }
  })
})

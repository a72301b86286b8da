import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html } from '../../../lib/report/html.ts'
import { renderPage } from '../../../lib/report/page.ts'
import { creditsByModel } from '../../../lib/report/pictures/credits-by-model.ts'
import { bandsOf, beginOf, endOf, type Period, periods, weekOf } from '../../../lib/report/pictures/periods.ts'
import type { Picture } from '../../../lib/report/pictures/picture.ts'
import { pictures } from '../../../lib/report/pictures/pictures.ts'
import { type PictureReading, readPictures, readTables } from '../../../lib/report/pictures/read-pictures.ts'
import { pictureSections } from '../../../lib/report/pictures/sections.ts'
import { lakeOfTwoNights, noRows, now } from './lake.ts'

type Cells = readonly (readonly unknown[])[]
/** Sums of fractions depend on their order in the last digits. */
function rounded(rows: Cells): Cells {
  return rows.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell)))
}

let lake: Awaited<ReturnType<typeof lakeOfTwoNights>>
beforeAll(async () => {
  lake = await lakeOfTwoNights()
})
afterAll(() => lake.close())

describe('the pictures', () => {
  let readings: PictureReading[][]
  beforeAll(async () => {
    readings = [await readTables(lake.rows, pictures, { now }), await readTables(lake.rowsOfLog, pictures, { now })]
  })

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

  it('stand in docs/pictures.md, with the tables that they are of', () => {
    const text = readFileSync(new URL('../../../docs/pictures.md', import.meta.url), 'utf8')
    const listed = text.split('\n').flatMap((line) => (/^\| [A-Z].*`/.test(line) ? [line] : []))
    const names = (of: Picture) => [...new Set(of.source.reads.map(({ table }) => `\`${table}\``))].join(', ')
    expect(listed).toEqual(pictures.map((each) => `| ${each.title(periods[0] as Period)} | ${names(each)} |`))
  })

  it('say so where there is nothing to show', async () => {
    for (const { views, empty } of await readPictures(noRows, { now })) {
      for (const view of views) expect(view).toMatchObject({ rows: [], svg: null, summary: empty })
    }
  })

  it('read each table once, whatever the number of pictures', async () => {
    const read: string[] = []
    await readPictures({ readColumns: async (table) => void read.push(table) }, { now })
    expect(read).toEqual([...new Set(read)])
    expect(read).toContain('sessions_current')
  })

  it('keep names that nobody can count from filling the memory: those beyond a bound are others', () => {
    const { begin } = creditsByModel.source
    const fold = begin(now)
    const names = Array.from({ length: 50_100 }, (_, at) => `made up ${at}`)
    const credits = names.map((_, at) => 100_000 - at)
    fold.add(0, { rows: names.length, columns: [names.map(() => now), names, credits] })
    fold.add(0, {
      rows: 2,
      columns: [
        [now, now],
        ['made up 0', 'late'],
        [5, 5],
      ],
    })
    const [all] = periods.slice(-1) as [Period]
    const table = fold.table(all)
    expect(table[0]).toEqual(['made up 0', 2, 100_005])
    expect(table.at(-1)?.[0]).toBe('others')
    expect(table.reduce((sum, [, sessions]) => sum + Number(sessions), 0)).toBe(50_102)
  })
})

describe('their page', () => {
  it('shows names that mean no good as text, and cuts them', async () => {
    const sections = pictureSections(await readPictures(lake.rows, { now }))
    const page = renderPage({ title: 'Pictures', writtenAt: '', sections, footer: html`` })
    expect(page).toContain('&lt;script&gt;alert(1)')
    expect(page).not.toMatch(/<script|x{100}|\0/)
    expect(page).not.toContain('\u202e')
    expect(page.match(/<h4>/g)?.length).toBe(page.match(/<summary>The SQL/g)?.length)
  })
})

describe('a period', () => {
  it('begins at midnight, and is inside of the next longer one, whatever the time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: -4e12, max: 4e12 }), (now, age) => {
        const at = now - age
        const band = bandsOf(now)(at)
        for (const [n, period] of periods.entries()) {
          const begin = beginOf(period, now) ?? Number.NEGATIVE_INFINITY
          expect(at >= begin && at < endOf(now)).toBe(band >= 0 && band <= n)
          expect(begin === Number.NEGATIVE_INFINITY || begin % 86_400_000 === 0).toBe(true)
        }
        expect([new Date(weekOf(at)).getUTCDay(), at - weekOf(at) >= 0, at - weekOf(at) < 7 * 86_400_000]).toEqual([
          1,
          true,
          true,
        ])
      }),
      { numRuns: 100 },
    )
  })
})

import fc from 'fast-check'
import { writeXlsx } from 'hucre/xlsx'
import { describe, expect, it } from 'vitest'
import { readLimitsFile } from '../../../lib/limits/intake/read-file.ts'
import { columnLetters } from '../../../lib/limits/intake/table.ts'
import { archiveOf, workbookOf } from './archive.ts'

const rules = { maxLimit: Number.MAX_SAFE_INTEGER }

type Sheets = Parameters<typeof writeXlsx>[0]['sheets']
async function read(...sheets: Sheets) {
  return await readLimitsFile(await writeXlsx({ sheets }), rules)
}
function cell(ref: string, value: string): string {
  return `<c r="${ref}" t="inlineStr"><is><t>${value}</t></is></c>`
}
const header = `<row r="1">${cell('A1', 'email')}${cell('B1', 'limit')}</row>`
function withCell(xml: string, row = '<row r="2">'): Buffer {
  return workbookOf(`${header}${row}${cell('A2', 'a@x.io')}${xml}</row>`)
}

describe('an Excel workbook', () => {
  it('is read like a CSV: lines, columns in any order, text and numbers, blank rows passed over', async () => {
    const rows = [
      ['Team', 'Credit limit', 'E-Mail'],
      ['it', 5, 'ana@x.io'],
      [null, null, null],
      ['it', '6', ' Jürgen@x.io '],
      ['it', 7, 'nobody'],
      ['it', null, 'cy@x.io'],
    ]
    expect(await read({ name: 'Limits', rows })).toMatchObject({
      rows: [
        { line: 2, address: 'ana@x.io', limit: 5 },
        { line: 4, address: 'Jürgen@x.io', limit: 6 },
      ],
      invalid: [
        { line: 5, reason: 'column C (email): the e-mail address is malformed', text: 'it,7,nobody' },
        { line: 6, reason: 'column B (limit): the limit is missing' },
      ],
      notes: ['The sheet "Limits" was read.', 'Columns that are not used: Team (A).'],
    })
  })

  it('means the same as a CSV of its cells, whatever they are', async () => {
    const cell = fc.oneof(
      fc.constantFrom(
        '',
        ' ',
        'a@x.io',
        'b@x.io',
        'Ana <a@x.io>',
        '5',
        '1.000',
        '1e3',
        "'5",
        '007',
        'x;y',
        '"',
        '2026-05-31',
      ),
      fc.nat(9_999),
    )
    const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t'), async (body, delimiter) => {
        const all = [['E-Mail', 'Limit', 'Until'], ...body]
        const quoted = (value: string | number) => `"${String(value).replaceAll('"', '""')}"`
        const csv = all.map((row) => row.map(quoted).join(delimiter)).join('\n')
        const [fromCsv, fromBook] = [
          await readLimitsFile(Buffer.from(csv), rules),
          await read({ name: 'A', rows: all }),
        ]
        expect(fromBook.rows).toEqual(fromCsv.rows)
        expect(fromBook.invalid).toEqual(fromCsv.invalid)
      }),
      { numRuns: 15 },
    )
  })

  it.each([
    ['500', 500],
    ['500.0', 500],
    ['5E2', 500],
    ['0', 0],
  ])('may hold a limit as the number %s', async (stored, limit) => {
    const { rows, invalid } = await readLimitsFile(withCell(`<c r="B2"><v>${stored}</v></c>`), rules)
    expect({ rows, invalid }).toMatchObject({ rows: [{ line: 2, limit }], invalid: [] })
  })

  it.each([
    ['499.6', '<c r="B2"><v>499.6</v></c>', 'the cell holds 499.6, whatever it shows'],
    ['a number below zero', '<c r="B2"><v>-5</v></c>', 'not negative'],
    ['more digits than are kept', '<c r="B2"><v>9007199254740993</v></c>', 'more digits'],
    ['1E+20', '<c r="B2"><v>1E+20</v></c>', 'more digits'],
    ['text with a separator', cell('B2', '1.000'), 'thousands are set apart'],
    ['text in scientific notation', cell('B2', '1e3'), 'scientific notation'],
    ['yes or no', '<c r="B2" t="b"><v>1</v></c>', 'yes or no'],
    ['an error', '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'an error of a formula'],
    ['a formula without a result', '<c r="B2"><f>C2*2</f></c>', 'no stored result: save the file with Excel'],
  ])('is refused in a row with %s as its limit', async (_what, xml, reason) => {
    const { rows, invalid } = await readLimitsFile(withCell(xml), rules)
    expect(rows).toEqual([])
    expect(invalid).toMatchObject([{ line: 2, reason: expect.stringMatching(/^column B \(limit\): /) }])
    expect(invalid[0]?.reason).toContain(reason)
  })

  it('gives the stored results of formulas', async () => {
    const { rows } = await readLimitsFile(withCell('<c r="B2"><f>250*2</f><v>500</v></c>'), rules)
    expect(rows).toMatchObject([{ limit: 500 }])
    const shared = '<c r="B2"><f t="shared" si="0">A1</f><v>7</v></c>'
    expect((await readLimitsFile(withCell(shared), rules)).rows).toMatchObject([{ limit: 7 }])
  })

  it('is refused in a row whose limit is a date', async () => {
    const rows = [
      ['email', 'limit'],
      ['a@x.io', new Date(Date.UTC(2026, 4, 6))],
    ]
    const { invalid } = await read({ name: 'Limits', rows, columns: [{}, { numFmt: 'yyyy-mm-dd' }] })
    expect(invalid).toMatchObject([
      { line: 2, reason: 'column B (limit): the cell holds a date', text: 'a@x.io,2026-05-06' },
    ])
  })

  it('may say by a date until when a limit stands', async () => {
    const rows = [
      ['email', 'limit', 'until'],
      ['a@x.io', 5, new Date(Date.UTC(2028, 1, 29))],
      ['b@x.io', 5, '2026-05-31'],
      ['c@x.io', 5, null],
      ['d@x.io', 5, 'soon'],
    ]
    const file = await read({ name: 'Limits', rows, columns: [{}, {}, { numFmt: 'yyyy-mm-dd' }] })
    expect(file.rows.map(({ until }) => until)).toEqual(['2028-02-29', '2026-05-31', undefined])
    expect(file.invalid).toMatchObject([
      { line: 5, reason: expect.stringMatching(/^column C \(until\): until is no day/) },
    ])
  })

  it('has no limit in a hidden row, and says so', async () => {
    const file = withCell('<c r="B2"><v>5</v></c>', '<row r="2" hidden="1">')
    const { rows, invalid } = await readLimitsFile(file, rules)
    expect(rows).toEqual([])
    expect(invalid).toEqual([{ line: 2, reason: 'the row is hidden. Show it or delete it', text: 'a@x.io,5' }])
  })

  it('says which of its sheets was read: the one that can be seen and has the columns', async () => {
    const limits = [
      ['email', 'limit'],
      ['a@x.io', 5],
    ]
    const file = await read(
      { name: 'April', rows: limits, hidden: true },
      { name: 'Read me', rows: [['How to use this']] },
      { name: 'May', rows: limits },
    )
    expect(file.rows).toMatchObject([{ address: 'a@x.io', limit: 5 }])
    expect(file.notes).toEqual(['The sheet "May" was read; 1 other sheet had no part in it.'])
    const both = read({ name: 'May', rows: limits }, { name: 'June', rows: limits })
    await expect(both).rejects.toThrow(/sheets "May" and "June" all have the columns/)
    await expect(read({ name: 'May', rows: [['Name', 'Limit']] })).rejects.toThrow(/and has "Name", "Limit"/)
  })
})

describe('a workbook that can not be read', () => {
  it.each([
    ['an archive of something else', archiveOf([{ name: 'a.txt', text: 'a' }])],
    ['a cut archive', withCell('<c r="B2"><v>5</v></c>').subarray(0, 400)],
    ['the beginning of an archive', Buffer.from('PK\u0003\u0004')],
  ])('is refused with a word on what to do: %s', async (_what, bytes) => {
    await expect(readLimitsFile(bytes, rules)).rejects.toThrow(
      /no Excel workbook, or a damaged one\. Save it as \.xlsx/,
    )
  })

  it('is named as an old or encrypted one', async () => {
    const old = Buffer.from('d0cf11e0a1b11ae1', 'hex')
    await expect(readLimitsFile(old, rules)).rejects.toThrow(/\.xls\), or has a password/)
  })

  it('is refused before it fills the memory, by what its parts say and by what they leave open', async () => {
    const part = { name: 'xl/workbook.xml', text: 'x'.repeat(1000) }
    const bomb = archiveOf([{ ...part, says: 33 * 1024 * 1024 }])
    await expect(readLimitsFile(bomb, rules)).rejects.toThrow(/unpacks to more than 32 MiB/)
    for (const open of [{ says: 0 }, { says: 0xffffffff }, { streamed: true as const }]) {
      await expect(readLimitsFile(archiveOf([{ ...part, ...open }]), rules)).rejects.toThrow(/damaged/)
    }
  })

  it('unpacks no part further than its directory says', async () => {
    const said = 500
    const parts = [{ name: '[Content_Types].xml', text: 'x'.repeat(1_000_000), says: said }]
    await expect(readLimitsFile(archiveOf(parts), rules)).rejects.toThrow(/damaged/)
  })

  it('is refused when two cells span more than the memory holds', async () => {
    const far = `${header}<row r="1048576">${cell('XFD1048576', 'x')}</row>`
    await expect(readLimitsFile(workbookOf(far), rules)).rejects.toThrow(/more than 400000 cells/)
  })
})

it('names columns as spreadsheets do', () => {
  expect([0, 25, 26, 701, 702, 16383].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD'])
})

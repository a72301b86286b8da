import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { identityOf, readEmail } from '../../../lib/limits/email.ts'
import { csvCell, unguarded, writeLimitsCsv } from '../../../lib/limits/intake/csv.ts'
import { csvRecords } from '../../../lib/limits/intake/csv-records.ts'
import { csvTable } from '../../../lib/limits/intake/csv-table.ts'
import { limitRowsOf } from '../../../lib/limits/intake/rows.ts'

function read(text: string | Buffer, maxLimit = Number.MAX_SAFE_INTEGER) {
  return limitRowsOf(csvTable(Buffer.from(text as string)), { maxLimit })
}
function short({ rows, invalid }: ReturnType<typeof read>) {
  return {
    rows: rows.map(({ line, address, limit }) => [line, address, limit]),
    invalid: invalid.map(({ line }) => line),
  }
}

describe('the column until', () => {
  it('takes a day or a time, may be empty, and costs its row what is neither', () => {
    const csv =
      'email,limit,until\na@x.io,1,2028-02-29\nb@x.io,2,\nc@x.io,3,2027-02-29\nd@x.io,4,2026-05-31T18:00:00+02:00\n'
    const { rows, invalid } = read(csv)
    expect(rows.map(({ until }) => until)).toEqual(['2028-02-29', undefined, '2026-05-31T18:00:00+02:00'])
    expect(invalid).toMatchObject([{ line: 4, reason: expect.stringContaining('until is no day') }])
  })
})

describe('a file as people write it (PROV-03)', () => {
  it('may begin with a BOM, end its lines with CRLF, quote its cells and trail blank lines', () => {
    const file = read('\ufeffEmail,Limit\r\n"ana@x.io","5"\r\nbob@x.io,0\r\n\r\n  \r\n')
    expect(short(file)).toEqual({
      rows: [
        [2, 'ana@x.io', 5],
        [3, 'bob@x.io', 0],
      ],
      invalid: [],
    })
  })

  it('may have rows that were cleared, of which a spreadsheet leaves the commas', () => {
    const file = read('email,limit,note\r\n,,\r\nana@x.io,5,\r\n, ,\r\n,\r\n,7,\r\n')
    expect(short(file)).toEqual({ rows: [[3, 'ana@x.io', 5]], invalid: [6] })
  })

  it('is quoted in reports without what a terminal would obey, on one line', () => {
    const { invalid } = read('email,limit\n\x1b[31mana@x.io,5\n"a\nb",6\n"\x07c,1\n')
    expect(invalid.map(({ text }) => text)).toEqual(['[31mana@x.io,5', 'a b,6', '" c,1'])
  })

  it('may have other columns, in any order, also with line breaks in them', () => {
    const file = read('name,limit,email\n"An\na",5,ana@x.io\nBob,6,bob@x.io\n')
    expect(short(file)).toEqual({
      rows: [
        [2, 'ana@x.io', 5],
        [4, 'bob@x.io', 6],
      ],
      invalid: [],
    })
  })

  it('may have its columns spelled in any way that is clear, and names those that are not used', () => {
    const { notes, ...file } = read('Team,E-Mail,Credit_Limit,,Old limit\nit,a@x.io,5,,4\n')
    expect(short({ notes, ...file }).rows).toEqual([[2, 'a@x.io', 5]])
    expect(notes).toEqual(['Columns that are not used: Team (A), Old limit (E).'])
    for (const header of [
      'EMAIL,LIMIT',
      'e mail,limit',
      'E-Mail-Adresse,Limit',
      'Mail,CreditLimit',
      '"E‑Mail", limit ',
    ]) {
      expect(short(read(`${header}\na@x.io,5`)).rows, header).toEqual([[2, 'a@x.io', 5]])
    }
  })

  it('is refused as a whole when its header names one of its columns twice, in whatever spelling', () => {
    expect(() => read('email,limit,limit\na@x.io,5,6')).toThrow(
      /column limit twice, as "limit" \(B\) and "limit" \(C\)/,
    )
    expect(() => read('E-Mail,limit,email\na@x.io,5,b@x.io')).toThrow(/column email twice, as "E-Mail" \(A\)/)
  })

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('may have its cells between %s (PROV-04)', (name, delimiter) => {
    const lines = ['limit', 'email', 'note'].join(delimiter)
    const { notes, ...file } = read(
      `${lines}\n5${delimiter}a@x.io${delimiter}"1,2;3\t4"\n1,000${delimiter}b@x.io${delimiter}\n`,
    )
    expect(short({ notes, ...file })).toEqual({ rows: [[2, 'a@x.io', 5]], invalid: [3] })
    expect(notes).toContain(`Its cells are separated by ${name}.`)
    expect(file.invalid[0]?.reason).toMatch(/^column A \(limit\): its thousands are set apart/)
  })

  it('may be UTF-16, with or without a BOM, in either order of bytes', () => {
    const text = 'email;limit\r\njürgen@x.io;5\r\n'
    for (const bom of ['', '\ufeff']) {
      const little = Buffer.from(bom + text, 'utf16le')
      for (const bytes of [little, Buffer.from(little).swap16()]) {
        expect(short(read(bytes)).rows).toEqual([[2, 'jürgen@x.io', 5]])
      }
    }
    expect(() => read(Buffer.from('\ufeffemail,limit\na', 'utf16le').subarray(0, -1))).toThrow(/not UTF-16LE text/)
  })

  it('is refused when it is neither UTF-8 nor UTF-16', () => {
    expect(() => read(Buffer.from('email,limit\nj\xfcrgen@x.io,5', 'latin1'))).toThrow(/not UTF-8 text/)
  })

  it('may begin with the line by which Excel names the separator, and keeps its line numbers', () => {
    const file = read('\ufeffsep=,\r\nemail,limit\r\na@x.io,5\r\nb@x.io,x\r\n')
    expect(short(file)).toEqual({ rows: [[3, 'a@x.io', 5]], invalid: [4] })
    expect(short(read('"SEP=,"\nlimit,email,team\n5,a@x.io,it\n')).rows).toEqual([[3, 'a@x.io', 5]])
    expect(short(read('sep=;\nemail;limit\na@x.io;5\n')).rows).toEqual([[3, 'a@x.io', 5]])
    expect(() => read('sep=#\nemail#limit\na@x.io#5\n')).toThrow(/"sep=#", names a separator that is not read/)
  })

  it('is refused without the two columns, and says which it has', () => {
    expect(() => read('name;limit\na@x.io;5')).toThrow(/email and limit, and has "name", "limit", and try again/)
  })

  it('loses one row to a misplaced quote, wherever it is, and reads all others', () => {
    const misplaced = ['bob@x.io,5" screen', '"bob@x.io,6', 'bob@x.io,"6"x', '"bob"@x.io,6']
    for (const row of misplaced) {
      for (const end of ['\n', '\r\n']) {
        const file = ['email,limit', 'ana@x.io,"5"', row, 'cy@x.io,7', '"dee@x.io","8"', ''].join(end)
        expect(short(read(file)), row).toEqual({
          rows: [
            [2, 'ana@x.io', 5],
            [4, 'cy@x.io', 7],
            [5, 'dee@x.io', 8],
          ],
          invalid: [3],
        })
      }
    }
  })

  it('gives up on a text in which quotes are misplaced everywhere, and says where', () => {
    const records = csvRecords(`email,limit\n${'"a@x.io,5\n'.repeat(500)}`)
    expect(records.at(-1)).toMatchObject({ reason: expect.stringContaining('was not read') })
  })

  it('reports a row with too few or too many cells', () => {
    expect(short(read('email,limit\na@x.io\nb@x.io,5,6\nc@x.io,9,99\nd@x.io,1')).invalid).toEqual([2, 3, 4])
  })
})

describe('a limit in a file (PROV-04, PROV-10)', () => {
  it.each([
    ['1.000', 'thousands are set apart'],
    ['"1,000"', 'thousands are set apart'],
    ["1'000", 'thousands are set apart'],
    ['1 000', 'thousands are set apart'],
    ['"1.000,00"', 'thousands are set apart'],
    ['"9,99"', 'no decimals'],
    ['500.0', 'no decimals'],
    ['19.99', 'no decimals'],
    ['1e3', 'scientific notation'],
    ['"1,5E+06"', 'scientific notation'],
    ['0x10', 'hexadecimal'],
    [' 5 ', 'blanks around'],
    ['5\u00a0', 'blanks around'],
    ['-5', 'not negative'],
    ['+5', 'no number'],
    ['٥', 'no number'],
    ['５', 'no number'],
    ['null', 'no number'],
    ['', 'limit is missing'],
    ['9007199254740993', 'more digits than a number keeps'],
  ])('is refused as %s, with its line, column and the reason', (cell, reason) => {
    const { rows, invalid } = read(`email,limit\na@x.io,${cell}\n`)
    expect(rows).toEqual([])
    expect(invalid).toMatchObject([{ line: 2, reason: expect.stringContaining(reason) }])
    expect(invalid[0]?.reason).toMatch(/^column B \(limit\): /)
  })

  it('may have zeros before it', () => {
    expect(short(read('email,limit\na@x.io,007\n')).rows).toEqual([[2, 'a@x.io', 7]])
  })

  it('is told apart when it is above the maximum', () => {
    const file = read('email,limit\na@x.io,1001\nb@x.io,-1\nc@x.io,1000', 1000)
    expect(file.aboveMaximum).toEqual([2])
    expect(short(file)).toEqual({ rows: [[4, 'c@x.io', 1000]], invalid: [2, 3] })
  })
})

describe('an address in a file (PROV-09)', () => {
  it.each(['a@x.io\u00a0', '\u00a0 a@x.io', '\ta@x.io'])('is read without the blanks around it: %j', (cell) => {
    expect(short(read(`email,limit\n${cell},5\n`)).rows).toEqual([[2, 'a@x.io', 5]])
  })

  it.each(['a\u200b@x.io', 'Ana <a@x.io>', 'a@x.io; b@x.io', 'a\u0000@x.io', ''])('is refused as %j', (cell) => {
    const { rows, invalid } = read(`email,limit\n"${cell}",5\n`)
    expect(rows).toEqual([])
    expect(invalid).toMatchObject([{ line: 2, reason: expect.stringMatching(/^column A \(email\): /) }])
  })
})

describe('an exported file (PROV-05)', () => {
  it.each(['=HYPERLINK("http://x")', '-2', '+1', '@cmd', '\tx', '\rx', "'=x"])('guards %j from being run', (value) => {
    const cell = csvCell(value)
    expect(cell.replace(/^"/, '')).toMatch(/^'/)
    const [header] = csvRecords(cell)
    expect(header && 'cells' in header && unguarded(header.cells[0] ?? '')).toBe(value)
  })

  it('leaves an apostrophe that guards nothing', () => {
    expect(csvCell("'o@x.io")).toBe("'o@x.io")
    expect(unguarded("'o@x.io")).toBe("'o@x.io")
  })

  it('reads back unchanged, whatever the addresses are', () => {
    const address = fc
      .stringMatching(/^[=+\-@'",a-zé.]{1,12}@[a-z]{1,5}\.io$/u)
      .filter((text) => 'identity' in readEmail(text))
    const rows = fc.uniqueArray(fc.record({ address, limit: fc.maxSafeNat() }), {
      selector: (row) => identityOf(row.address),
    })
    fc.assert(
      fc.property(rows, (expected) => {
        const { rows: found, invalid } = read(writeLimitsCsv(expected))
        expect(invalid).toEqual([])
        expect(found.map(({ address, limit }) => ({ address, limit }))).toEqual(expected)
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { identityOf, readEmail } from '../../../lib/limits/email.ts'
import { csvCell, readLimitsCsv, unguarded, writeLimitsCsv } from '../../../lib/limits/intake/csv.ts'
import { csvRecords } from '../../../lib/limits/intake/csv-records.ts'

function read(text: string, maxLimit = Number.MAX_SAFE_INTEGER) {
  return readLimitsCsv(Buffer.from(text), { maxLimit })
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

  it('is refused as a whole when its header names a column twice', () => {
    expect(() => read('email,limit,limit\na@x.io,5,6')).toThrow(/"limit" twice/)
  })

  it('is refused with a word on the delimiter when it is not the comma (PROV-04)', () => {
    expect(() => read('email;limit\na@x.io;5')).toThrow(/semicolons/)
    expect(() => read('email\tlimit\na@x.io\t5')).toThrow(/tabs/)
  })

  it('is refused when it is not UTF-8', () => {
    expect(() => readLimitsCsv(Buffer.from('email,limit\nj\xfcrgen@x.io,5', 'latin1'), { maxLimit: 9 })).toThrow(
      /UTF-8/,
    )
    expect(() => readLimitsCsv(Buffer.from('\ufeffemail,limit', 'utf16le'), { maxLimit: 9 })).toThrow(/UTF-16/)
  })

  it('may begin with the line by which Excel names the separator, as long as that is a comma', () => {
    const file = read('\ufeffsep=,\r\nemail,limit\r\na@x.io,5\r\nb@x.io,x\r\n')
    expect(short(file)).toEqual({ rows: [[3, 'a@x.io', 5]], invalid: [4] })
    expect(short(read('"SEP=,"\nlimit,email,team\n5,a@x.io,it\n')).rows).toEqual([[3, 'a@x.io', 5]])
    expect(() => read('sep=;\nemail;limit\na@x.io;5\n')).toThrow(/"sep=;", says that no comma .* by commas/)
  })

  it('is refused without the two columns', () => {
    expect(() => read('mail,limit\na@x.io,5')).toThrow(/email and limit/)
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

describe('a limit in a file (PROV-04)', () => {
  it.each([
    '1.000',
    '"1,000"',
    '"9,99"',
    '1e3',
    '0x10',
    ' 5 ',
    '-5',
    '+5',
    '5.0',
    '19.99',
    '',
    '٥',
    '9007199254740993',
    'null',
  ])('is refused as %s', (cell) => {
    const { rows, invalid } = read(`email,limit\na@x.io,${cell}\n`)
    expect({ rows, lines: invalid.map(({ line }) => line) }).toEqual({ rows: [], lines: [2] })
  })

  it('is told apart when it is above the maximum', () => {
    const file = read('email,limit\na@x.io,1001\nb@x.io,-1\nc@x.io,1000', 1000)
    expect(file.aboveMaximum).toEqual([2])
    expect(short(file)).toEqual({ rows: [[4, 'c@x.io', 1000]], invalid: [2, 3] })
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

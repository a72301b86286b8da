import { crc32, deflateRawSync } from 'node:zlib'

/** A part of an archive. `says`: a size other than its own, for the directory. `streamed`: its sizes come after it. */
export type Part = { name: string; text: string; says?: number; streamed?: true }

/** A ZIP archive of parts, as honest as they are. */
export function archiveOf(parts: readonly Part[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const part of parts) {
    const local = headerOf(part, { mark: 0x04034b50, length: 30, from: 4 })
    const central = headerOf(part, { mark: 0x02014b50, length: 46, from: 6 })
    central.writeUInt32LE(at, 42)
    const body = Buffer.concat([local, Buffer.from(part.name), packed(part)])
    bodies.push(body)
    directory.push(central, Buffer.from(part.name))
    at += body.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, ...directory, end])
}

/** A workbook of one sheet whose XML is as given. */
export function workbookOf(sheetXml: string): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const relation = (type: string, target: string) =>
    `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${types}/${type}" Target="${target}"/></Relationships>`
  return archiveOf([
    { name: '[Content_Types].xml', text: contentTypes },
    { name: '_rels/.rels', text: relation('officeDocument', 'xl/workbook.xml') },
    {
      name: 'xl/workbook.xml',
      text: `<workbook xmlns="${main}" xmlns:r="${types}"><sheets><sheet name="Limits" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    { name: 'xl/_rels/workbook.xml.rels', text: relation('worksheet', 'worksheets/sheet1.xml') },
    {
      name: 'xl/worksheets/sheet1.xml',
      text: `<worksheet xmlns="${main}"><sheetData>${sheetXml}</sheetData></worksheet>`,
    },
  ])
}

const sheets = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const contentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${sheets}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${sheets}.worksheet+xml"/></Types>`

function packed({ text }: Part): Buffer {
  return deflateRawSync(text)
}

function headerOf(part: Part, { mark, length, from }: { mark: number; length: number; from: number }): Buffer {
  const header = Buffer.alloc(length)
  header.writeUInt32LE(mark, 0)
  header.writeUInt16LE(part.streamed ? 8 : 0, from + 2)
  header.writeUInt16LE(8, from + 4)
  header.writeUInt32LE(crc32(part.text), from + 10)
  header.writeUInt32LE(part.streamed && length === 46 ? 0 : packed(part).length, from + 14)
  header.writeUInt32LE(part.says ?? Buffer.byteLength(part.text), from + 18)
  header.writeUInt16LE(Buffer.byteLength(part.name), from + 22)
  return header
}

import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import { hashedText } from '../../lib/core/stand-ins.ts'
import { extractorOf } from '../../lib/streams/extract.ts'
import { messageTables } from '../../lib/streams/message-tables.ts'
import { fixtureOf, rowsOf } from './fixtures.ts'

const [messages, blocks] = messageTables
const extract = extractorOf({ tables: messageTables })
const image = `attachment:image/png:70:sha256:${'ab'.repeat(32)}`

function message(content: Json, more: { [key: string]: Json } = {}): { [key: string]: Json } {
  const times = { createdAt: 1_748_411_762_359, updatedAt: 1_748_411_763_359 }
  return { sessionId: 'ses_01', id: 'msg_01', role: 'user', content, ...times, ...more }
}

function rowOf(content: Json) {
  return rowsOf(messages, [message(content)])[0]!
}

function toldOf(content: Json): { field: string; reason: string; value: Json }[] {
  return JSON.parse(extract(message(content)).rows[0]![0]!.invalid ?? '[]')
}

describe('a row of a message', () => {
  it('has the texts of its text blocks joined, and what the others come to', () => {
    const image64 = { type: 'image', source: { type: 'base64', data: image } }
    const row = rowOf([{ type: 'text', text: 'one' }, image64, { type: 'text', text: 'two ✓' }])
    expect(row).toMatchObject({
      session_id: 'ses_01',
      message_id: 'msg_01',
      text: 'one\ntwo ✓',
      text_length: 8,
      blocks: 3,
      other_blocks: 1,
      other_bytes: JSON.stringify(image64).length,
      attachments: 1,
      attachment_bytes: 70,
    })
  })

  it('has no text where there is no text block, and says how many blocks there are', () => {
    expect(rowOf([{ type: 'tool_use', text: 'no text of the message' }])).toMatchObject({ text: null, text_length: 0 })
    expect(rowOf([])).toMatchObject({ text: null, blocks: 0, other_blocks: 0, attachments: 0 })
  })

  it('tells the length that a hashed text had', () => {
    const text = hashedText({ digits: '0123456789abcdef', length: 1_234 })
    expect(rowOf([{ type: 'text', text }])).toMatchObject({ text, text_length: 1_234 })
  })

  it('keeps deprecated fields as columns that say so', () => {
    const column = messages.columns.find(({ name }) => name === 'alt_vendor_thought_signature')
    expect(column?.doc).toMatch(/^Deprecated/)
    expect(rowsOf(messages, fixtureOf({ name: 'session_messages' }))[1]).toMatchObject({
      alt_vendor_thought_signature: 'c2lnbmF0dXJl',
    })
  })
})

describe('a row of a block', () => {
  it('stands under its message, with its place', () => {
    const rows = rowsOf(blocks, fixtureOf({ name: 'session_messages' }))
    expect(rows.map((row) => [row.session_id, row.message_id, row.position, row.type])).toEqual([
      ['ses_01', 'msg_01', 0, 'text'],
      ['ses_01', 'msg_01', 1, 'text'],
      ['ses_01', 'msg_01', 2, 'image'],
      ['ses_01', 'msg_02', 0, 'thinking'],
      ['ses_01', 'msg_02', 1, 'tool_use'],
      ['ses_02', 'msg_01', 0, 'text'],
    ])
    expect(rows[0]).toMatchObject({ text: 'Please fix the failing test.', block_id: 'b0', role: 'user', body: null })
  })

  it('keeps a type that nobody declared whole, as JSON, and finds no drift in it', () => {
    const block = { type: 'tool_result', toolUseId: 't1', text: { odd: 1 }, content: [{ type: 'text', text: 'out' }] }
    const { rows, drifted } = extract(message([block]))
    expect(drifted).toBe(false)
    expect(toldOf([block])).toEqual([])
    const row = rowsOf(blocks, [message([block])])[0]!
    expect(JSON.parse(row.body as string)).toEqual(block)
    expect([row.text, rows[1]![0]!.extra]).toEqual([null, null])
  })

  it('tells type, size and digest of contents that were replaced, at any depth', () => {
    const row = rowsOf(blocks, [message([{ type: 'x', a: [{ b: image }, `see ${image}`] }])])[0]!
    expect(row).toMatchObject({ attachments: 2, attachment_type: 'image/png', attachment_bytes: 140 })
    expect(row.attachment_sha256).toBe('ab'.repeat(32))
  })

  it('keeps a field that text blocks did not have as drift, beside its row', () => {
    const { rows, drifted } = extract(message([{ type: 'text', text: 'x', lang: 'en' }]))
    expect([rows[1]![0]!.extra, drifted]).toEqual(['{"lang":"en"}', true])
  })
})

describe('content of an odd form', () => {
  it.each([
    ['null', null, 'is null'],
    ['a text', 'Please fix it.', 'is a text, not a list'],
    ['an object', { type: 'text' }, 'is an object, not a list'],
  ])('costs its columns and no row: %s', (_name, content, reason) => {
    expect(rowOf(content)).toMatchObject({ message_id: 'msg_01', role: 'user', text: null, blocks: null })
    expect(rowsOf(blocks, [message(content)])).toEqual([])
    expect(toldOf(content)).toEqual([{ field: 'content', reason, value: content }])
  })

  it('is told when it is missing', () => {
    const { content: _, ...bare } = message([])
    expect(JSON.parse(extract(bare).rows[0]![0]!.invalid!)).toEqual([
      { field: 'content', reason: 'is missing', value: null },
    ])
  })

  it('costs a block that is no object its row, and a field its column', () => {
    const content = ['a text', null, { type: 'text', text: 5 }, { text: 'no type' }, { type: 'text', text: 'good' }]
    expect(rowsOf(blocks, [message(content)]).map(({ position, type, text }) => [position, type, text])).toEqual([
      [2, 'text', null],
      [3, null, 'no type'],
      [4, 'text', 'good'],
    ])
    expect(toldOf(content).map(({ field, reason }) => [field, reason])).toEqual([
      ['content[0]', 'is a text, not an object'],
      ['content[1]', 'is null, not an object'],
      ['content[2].text', 'is a number, not a text'],
      ['content[3].type', 'is missing'],
    ])
    expect(rowOf(content)).toMatchObject({ text: 'good', blocks: 5, other_blocks: 3 })
    expect(extract(message(content)).invalid).toEqual(['content[]', 'content[].text', 'content[].type'])
  })

  it('costs nothing where a whole record is none', () => {
    for (const record of [null, 'text', [], 5]) expect(extract(record).rows.map((rows) => rows.length)).toEqual([1, 0])
  })
})
